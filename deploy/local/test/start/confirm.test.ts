import { fileURLToPath } from "node:url";
import t from "tap";
import { openTerminal } from "../../../../packages/cli/test/output/terminal.ts";

const program = fileURLToPath(new URL("../confirm-program.ts", import.meta.url));
const env = { PATH: process.env["PATH"], TERM: "xterm" };

for (const [what, typed, answer] of [
  ["yes", "yes\r", true],
  ["yes with blanks", " yes \r", true],
  ["another answer", "y\r", false],
  ["no answer", "\r", false],
  ["Ctrl-C", "\u0003", false],
  ["Ctrl-D", "\u0004", false],
] as const)
  await t.test(`${what} at the question is ${answer ? "yes" : "no"}, and no trace`, async (t) => {
    const terminal = openTerminal(t, `'${process.execPath}' '${program}' 'Remove all?'`, env);
    await terminal.shows(/Remove all\? Type yes: /);
    terminal.type(typed);
    const screen = await terminal.end();
    t.match(screen, `answer ${answer}`);
    t.notMatch(screen, /Abort| at .*:\d/);
  });
