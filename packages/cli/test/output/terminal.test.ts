import { execFileSync } from "node:child_process";
import { fileURLToPath } from "node:url";
import t from "tap";
import { command, inherited } from "../command.ts";
import { openTerminal } from "./terminal.ts";

const asker = fileURLToPath(new URL("../ask.ts", import.meta.url));
const ask = (...questions: string[]): string =>
  [process.execPath, asker, ...questions].map((word) => `'${word}'`).join(" ");
const env = { ...inherited(), TERM: "xterm" };

await t.test("an answer is read from the terminal, not shown, and stdin is left alone", async (t) => {
  const terminal = openTerminal(t, `printf 'the rest of a script' | { ${ask("Password")}; cat; }`, env);
  await terminal.shows(/Password: $/);
  terminal.type("pässwörd\r");
  const screen = await terminal.end();
  t.match(screen, 'answers ["pässwörd"]');
  t.equal(screen.match(/pässwörd/g)?.length, 1, "only our own print shows it");
  t.match(screen, /the rest of a script/);
});

await t.test("two questions are answered in turn, also when both answers come at once", async (t) => {
  const terminal = openTerminal(t, ask("New password", "The same again"), env);
  await terminal.shows(/New password: $/);
  terminal.type("first\nsecond\n");
  t.match(await terminal.end(), 'answers ["first","second"]');
});

await t.test("lines that were there before the question are the rest of a paste and no answer", async (t) => {
  const terminal = openTerminal(t, `stty -echo; echo go; read line; ${ask("Password")}`, env);
  await terminal.shows(/go/);
  terminal.type("wakes the shell\nnpx coffer folder create production\nnpx coffer app create api\n");
  await terminal.shows(/typed before this question: lines: 2\)\s+Password: $/);
  terminal.type("right\n");
  t.match(await terminal.end(), 'answers ["right"]');
});

await t.test("what follows the answer stays for the shell", async (t) => {
  const terminal = openTerminal(t, `${ask("Password")}; IFS= read -r next; echo "shell read [$next]"`, env);
  await terminal.shows(/Password: $/);
  terminal.type("answer\necho the next line\n");
  const screen = await terminal.end();
  t.match(screen, 'answers ["answer"]');
  t.match(screen, "shell read [echo the next line]");
});

await t.test("lines pasted into a shell that knows pastes survive a question among them", async (t) => {
  const terminal = openTerminal(t, "bash --norc --noprofile -i", { ...env, PS1: "ready> ", HISTFILE: "/dev/null" });
  await terminal.shows(/ready> /);
  terminal.type(`\u001b[200~echo one\n${ask("Password")}\necho tw\\o\necho thr\\ee\u001b[201~\n`);
  await terminal.shows(/Password: $/);
  terminal.type("typed\n");
  const screen = await terminal.shows(/three/);
  t.match(screen, 'answers ["typed"]');
  t.match(screen, /two/);
  terminal.type("exit\n");
  await terminal.end();
});

await t.test("erasing takes characters away, not bytes, and keys that move do nothing", async (t) => {
  const terminal = openTerminal(t, ask("Password"), env);
  await terminal.shows(/Password: $/);
  terminal.type("wrong\u0015aü\u007f\u007fbü\u007f\u001b[Ac\u001b[200~d\u001b[201~\r");
  t.match(await terminal.end(), 'answers ["bcd"]');
});

await t.test("Ctrl-C ends it with 130, and the terminal shows again what is typed", async (t) => {
  const terminal = openTerminal(
    t,
    `${ask("Password")} 2>&1 | grep -o 'exitCode: [0-9]*'; stty -a | grep -ow -e -echo -e echo`,
    env,
  );
  await terminal.shows(/Password: $/);
  terminal.type("half\u0003");
  const screen = await terminal.end();
  t.match(screen, /Password: \r?\n/, "what comes next has a line of its own");
  t.match(screen, /exitCode: 130/);
  t.match(screen, /^echo\r?$/m);
});

await t.test("an answer that cannot be right ends the questions, and Ctrl-D the line", async (t) => {
  const register = `'${process.execPath}' '${command}' register --email a@example.com --url http://127.0.0.1:9`;
  for (const [typed, said] of [
    ["\n", "the password is empty"],
    ["short\n", "a password has at least 10 characters"],
    ["\u0004", "nothing was typed"],
  ] as const) {
    const terminal = openTerminal(t, register, { ...env, HOME: t.testdirName, XDG_CONFIG_HOME: t.testdirName });
    await terminal.shows(/Password: $/);
    terminal.type(typed);
    const screen = await terminal.end();
    t.match(screen, new RegExp(`^Password: \r?\ncoffer: ${said}`, "m"), said);
    t.notMatch(screen, "Password again");
  }
});

await t.test("without a terminal a question is a usage error that names the other ways", (t) => {
  t.throws(() => execFileSync("setsid", [process.execPath, asker, "Password"], { stdio: ["ignore", "pipe", "pipe"] }), {
    message: /no terminal to prompt for "Password": no other way/,
  });
  t.end();
});
