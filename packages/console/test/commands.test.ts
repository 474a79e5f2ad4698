import { execFileSync } from "node:child_process";
import t from "tap";
import { exportCommand, recordCommand, rotateCommand, shellWord } from "../src/commands.ts";

// A colleague names a vault, a folder or a record, and the person pastes the command that the console shows.

const names = [
  "production",
  "Two words",
  "$(touch injected)",
  "`touch injected`",
  '"; touch injected; "',
  "'; touch injected; '",
  "it's $HOME",
  "back\\slash\\",
  "!!",
  "~",
  "*",
  "a|b&c;d<e>f(g)#h",
  "--force",
  "",
];

/** The words of each command, as a shell reads them. */
function wordsOf(commands: readonly string[]): string[][] {
  const print = `coffer() { for word; do printf '%s\\0' "$word"; done; printf '\\n\\0'; }; touch() { echo injected; }`;
  const printed = execFileSync("sh", ["-c", [print, ...commands].join("\n")], { encoding: "utf8" });
  return printed
    .split("\n\0")
    .slice(0, -1)
    .map((words) => words.split("\0").slice(0, -1));
}

await t.test("a name is one word of the command, and nothing that a shell runs", (t) => {
  const commands = names.flatMap((name) => [
    rotateCommand("folder", name),
    recordCommand(name).replace("<vault>", "v"),
    exportCommand(name, "chrome-csv").replace("<file>", "f"),
  ]);
  t.same(
    wordsOf(commands),
    names.flatMap((name) => [
      ["folder", "rotate", name],
      ["record", "get", "v", name],
      ["export", "--vault", name, "--format", "chrome-csv", "f"],
    ]),
  );
  t.end();
});

await t.test("an ordinary name is shown as it is", (t) => {
  t.equal(shellWord("production"), "production");
  t.equal(shellWord("Two words"), "'Two words'");
  t.end();
});
