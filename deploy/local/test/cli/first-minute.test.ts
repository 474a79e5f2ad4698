import { readFileSync, statSync } from "node:fs";
import { join } from "node:path";
import t from "tap";
import { testDirectory } from "@coffer/testkit";
import { inherited } from "../../../../packages/cli/test/command.ts";
import { openTerminal } from "../../../../packages/cli/test/output/terminal.ts";
import { checkout } from "../../src/checkout.ts";
import { firstMinute } from "../../src/first-minute.ts";
import { npmStart } from "../npm-start.ts";

const directory = testDirectory(t);
const machineFile = join(testDirectory(t), "machine.json");
const server = npmStart(t, { directory });
await server.ready;

/** The printed lines, with another path of the machine's file: nothing is written into the checkout. */
const lines = firstMinute.map((line) => line.replaceAll("machine.json", machineFile));
const env = {
  ...inherited(),
  // As in a person's shell: without the variables of npm scripts.
  PATH: (process.env["PATH"] ?? "")
    .split(":")
    .filter((path) => !path.startsWith(checkout))
    .join(":"),
  TERM: "xterm",
  PS1: "ready> ",
  HISTFILE: "/dev/null",
  HOME: testDirectory(t),
  XDG_CONFIG_HOME: testDirectory(t),
  COFFER_DATA_DIR: directory,
};

await t.test("the first minute, pasted as printed into a terminal, ends in the decrypted secret", async (t) => {
  const terminal = openTerminal(t, `cd '${checkout}' && exec bash --norc --noprofile -i`, env);
  await terminal.shows(/ready> /);
  terminal.type(`\u001b[200~${lines.join("\n")}\necho the e\\nd\u001b[201~\n`);
  await terminal.shows(/Password: $/);
  terminal.type("correct horse battery staple\n");
  await terminal.shows(/Password again: $/);
  terminal.type("correct horse battery staple\n");
  const [recoveryKey] = /cfr1_[\w-]{43}/.exec(await terminal.shows(/cfr1_[\w-]{43}/)) ?? [];
  const [token = ""] = /cft1_[\w-]{43}/.exec(await terminal.shows(/cft1_[\w-]{43}[^]*One-time token: $/)) ?? [];
  terminal.type(`${token}\n`);
  const screen = await terminal.shows(/the end/);
  t.match(screen, /s3cret\r?\n/);
  t.notMatch(screen, /correct horse/, "the password is not on the screen");
  t.equal(screen.split(token).length, 2, "the token is there once, where it was printed");
  t.type(recoveryKey, "string");
  terminal.type("exit\n");
  await terminal.end();
});

await t.test("the session and the machine's identity are in files of mode 0600, and no password is", (t) => {
  const profile = join(env.XDG_CONFIG_HOME, "coffer", "profile.json");
  for (const path of [profile, machineFile]) {
    t.equal(statSync(path).mode & 0o777, 0o600, path);
    t.notMatch(readFileSync(path, "utf8"), /correct horse|cft1_|cfr1_/);
  }
  t.end();
});
