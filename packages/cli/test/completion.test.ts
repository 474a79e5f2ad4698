import { execFileSync, spawnSync } from "node:child_process";
import { join } from "node:path";
import t from "tap";
import { completionScript } from "../src/completion-script.ts";
import { groups, nouns } from "../src/rows/index.ts";

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
  t.same(offered("coffer folder share production bob@example.com --tr"), ["--trust-new"]);
  t.same(offered("coffer folder share --permission w"), ["write"]);
  t.same(offered("coffer member set bob@example.com --role "), ["owner", "admin", "auditor", "member"]);
  t.same(offered("coffer --nonsense"), []);
  t.end();
});

void t.test("after -- it is another command's turn", (t) => {
  t.same(offered("coffer run -- ma"), []);
  t.end();
});

for (const shell of ["bash", "zsh", "fish"] as const) {
  void t.test(`${shell} can read its script`, (t) => {
    const file = join(t.testdir({ script: completionScript(shell, line) }), "script");
    const { status, stderr, error } = spawnSync(shell, ["-n", file], { encoding: "utf8" });
    if (error !== undefined) t.comment(`${shell} is not on this machine: its script was only made`);
    else t.same([status, stderr], [0, ""]);
    t.end();
  });
}
