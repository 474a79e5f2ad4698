import { execFileSync, spawnSync } from "node:child_process";
import { join } from "node:path";
import t from "tap";
import { completionScript } from "../../src/completion-script.ts";
import { groups, nouns } from "../../src/rows/index.ts";

const line = { rows: groups.flatMap(([, rows]) => rows), nouns };

/** What bash would offer for a line whose last word is being typed. */
function offered(typed: string): string[] {
  const words = typed.split(" ");
  const script = [
    completionScript("bash", line),
    `COMP_WORDS=(${words.map((word) => `'${word}'`).join(" ")})`,
    `COMP_CWORD=${words.length - 1}`,
    "_coffer",
    'printf "%s\\n" "${COMPREPLY[@]}"',
  ].join("\n");
  return execFileSync("bash", ["--norc"], { input: script }).toString().split("\n").filter(Boolean);
}

void t.test("commands are offered, then what follows them", (t) => {
  t.match(new Set(offered("coffer ")), new Set(["run", "read", "folder", "invite", "completion"]));
  t.same(offered("coffer fo"), ["folder"]);
  t.same(offered("coffer folder sh"), ["share"]);
  t.match(offered("coffer folder share --p"), ["--permission"]);
  t.end();
});

void t.test("options are offered wherever their command was, and values where they are a fixed set", (t) => {
  t.same(offered("coffer client confirm 0190c0de --fi"), ["--fingerprint"]);
  t.same(offered("coffer folder share --permission w"), ["write"]);
  t.same(offered("coffer member set bob@example.com --role "), ["owner", "admin", "auditor", "member"]);
  t.same(offered("coffer --nonsense"), []);
  t.end();
});

void t.test("after -- it is another command's turn", (t) => {
  t.same(offered("coffer run -- ma"), []);
  t.end();
});

const isHere = (shell: string): boolean => spawnSync(shell, ["-c", "exit 0"]).error === undefined;

/** What fish would offer, with its descriptions. */
function offeredByFish(t: Tap, typed: string): string[] {
  const file = join(t.testdir({ script: completionScript("fish", line) }), "script");
  const script = `source ${file}; complete -C ${JSON.stringify(typed)}`;
  return execFileSync("fish", ["--no-config", "-c", script]).toString().split("\n").filter(Boolean);
}

/**
 * What the script gives zsh's completion to offer: that takes what begins as the last word, and
 * needs a terminal.
 */
function offeredByZsh(t: Tap, typed: string): string[] {
  const words = typed.split(" ");
  const script = [
    "compdef() { :; }; _files() { :; }",
    '_describe() { print -rl -- "${(P@)2}"; (( ${#${(P)2}} )) }',
    'compadd() { print -rl -- "${@:#--}"; }',
    completionScript("zsh", line),
    `words=(${words.map((word) => `'${word}'`).join(" ")}); CURRENT=${words.length}`,
    "_coffer",
    "exit 0",
  ].join("\n");
  const file = join(t.testdir({ script }), "script");
  const given = execFileSync("zsh", ["-f", file]).toString().split("\n");
  return given.filter((each) => each !== "" && each.startsWith(words.at(-1) ?? ""));
}

type Tap = Pick<typeof t, "testdir">;

for (const [shell, offer, between] of [
  ["fish", offeredByFish, "\t"],
  ["zsh", offeredByZsh, ":"],
] as const) {
  void t.test(`${shell} offers the same`, (t) => {
    if (!isHere(shell)) {
      t.comment(`${shell} is not on this machine`);
      t.end();
      return;
    }
    const names = (typed: string) => offer(t, typed).map((each) => each.split(between)[0]);
    t.match(new Set(names("coffer ")), new Set(["run", "read", "folder", "invite", "completion"]));
    t.same(names("coffer fo"), ["folder"]);
    t.same(names("coffer folder sh"), ["share"]);
    t.ok(names("coffer folder share --p").includes("--permission"));
    t.same(names("coffer client confirm 0190c0de --fi"), ["--fingerprint"]);
    t.same(names("coffer folder share --permission w"), ["write"]);
    t.same(names("coffer member set bob@example.com --role ").sort(), ["admin", "auditor", "member", "owner"]);
    t.same(names("coffer --nonsense"), []);
    t.same(names("coffer run -- ma"), []);
    t.end();
  });
}

for (const shell of ["bash", "zsh", "fish"] as const) {
  void t.test(`${shell} can read its script`, (t) => {
    const file = join(t.testdir({ script: completionScript(shell, line) }), "script");
    const { status, stderr, error } = spawnSync(shell, ["-n", file], { encoding: "utf8" });
    if (error !== undefined) t.comment(`${shell} is not on this machine: its script was only made`);
    else t.same([status, stderr], [0, ""]);
    t.end();
  });
}
