import { once } from "node:events";
import { chmodSync, existsSync, mkdirSync, writeFileSync } from "node:fs";
import { delimiter, dirname, join } from "node:path";
import t from "tap";
import { coffer, command, inherited, outcomeOf, start } from "../command.ts";
import { openTerminal } from "../output/terminal.ts";

const home = t.testdir({});
const node = process.execPath;

await t.test("the argument vector reaches the command as it is: no shell, no options of ours", async (t) => {
  const args = [
    "-e",
    "console.log(JSON.stringify(process.argv.slice(1)))",
    "--",
    "$HOME",
    "a b",
    "*",
    "--json",
    "--",
    "-x",
  ];
  const { stdout, code } = await coffer(home, ["run", "--", node, ...args]);
  t.same(JSON.parse(stdout), ["$HOME", "a b", "*", "--json", "--", "-x"]);
  t.equal(code, 0);
  const bare = await coffer(home, ["run", "printf", "%s|", "--mask", "-n"]);
  t.equal(bare.stdout, "--mask|-n|", "also without --");
});

/**
 * The folders of every Node that this machine has: ours, and those that PATH names outside of the
 * checkout.
 */
function nodeFolders(): string[] {
  const folders = (process.env["PATH"] ?? "").split(delimiter).filter((folder) => !folder.includes("node_modules"));
  return [dirname(node), ...folders.filter((folder) => existsSync(join(folder, "node")))];
}

await t.test("no Node takes an option of the command for its own, with and without --", async (t) => {
  const words = [
    "compose",
    "--env-file",
    "none.env",
    "--env-file=none.env",
    "--experimental-config-file=none.json",
    "=",
  ];
  for (const folder of nodeFolders())
    for (const before of [[], ["--"]]) {
      const env = { PATH: [folder, "/usr/bin", "/bin"].join(delimiter) };
      const { code, stdout, stderr } = await coffer(home, ["run", ...before, "printf", "%s|", ...words, ""], { env });
      t.match({ code, stdout, stderr }, { code: 0, stdout: `${words.join("|")}||`, stderr: "" }, folder);
    }
});

await t.test("a file of variables that the command names is not read by Node either", async (t) => {
  writeFileSync(join(home, "of-the-command.env"), "FROM_FILE=yes\n");
  const args = ["run", "sh", "-c", 'echo "[$FROM_FILE]"', "sh", "--env-file", "of-the-command.env"];
  t.match(await coffer(home, args), { code: 0, stdout: "[]\n" });
  const own = await coffer(home, ["run", "--env-file", "of-the-command.env", "--", "printenv", "FROM_FILE"]);
  t.match(own, { code: 0, stdout: "yes\n" });
});

await t.test("the command has our stdin, and its exit code is ours", async (t) => {
  const echo = await coffer(home, ["run", "--", "cat"], { input: "one\ntwo" });
  t.equal(echo.stdout, "one\ntwo");
  for (const code of [0, 1, 42, 255])
    t.equal((await coffer(home, ["run", "--", "sh", "-c", `exit ${code}`])).code, code);
});

await t.test("a command that a signal ended gives 128 and its number", async (t) => {
  for (const [signal, code] of [
    ["TERM", 143],
    ["KILL", 137],
    ["INT", 130],
  ] as const)
    t.equal((await coffer(home, ["run", "--", "sh", "-c", `kill -${signal} $$`])).code, code);
});

await t.test("signals are passed on, and the command decides what they mean", async (t) => {
  for (const signal of ["SIGTERM", "SIGINT", "SIGHUP", "SIGUSR2", "SIGWINCH", "SIGCONT"] as const) {
    const name = signal.slice(3);
    const script = `trap 'echo got ${name}; exit 7' ${name}; echo ready; while :; do sleep 0.05; done`;
    const child = start(home, ["run", "--", "sh", "-c", script]);
    const outcome = outcomeOf(child);
    if (child.stdout !== null) await once(child.stdout, "data");
    child.kill(signal);
    const { code, stdout } = await outcome;
    t.equal(code, 7, signal);
    t.match(stdout, new RegExp(`got ${name}`));
  }
});

await t.test("the command gets a terminal's new size once", async (t) => {
  // The command asks us for its own signal: what we would pass on of the one before, we have
  // passed on by then.
  const script = `
    let heard = 0;
    process.on("SIGWINCH", () => (heard += 1) === 1 && process.kill(process.ppid, "SIGUSR2"));
    process.on("SIGUSR2", () => setImmediate(() => {
      console.log("heard " + heard);
      process.exit();
    }));
    setInterval(() => undefined, 1000);
    require("node:child_process").execFileSync("stty", ["cols", "123"], { stdio: "inherit" });
  `;
  const program = join(home, "size.cjs");
  writeFileSync(program, script);
  const line = `'${command}' run -- '${node}' '${program}'`;
  const terminal = openTerminal(t, line, { ...inherited(), TERM: "xterm", HOME: home, XDG_CONFIG_HOME: home });
  t.match(await terminal.end(), /^heard 1\r?$/m);
});

await t.test("what would let the command act as us is not in its environment", async (t) => {
  const own = { COFFER_CONFIG: "{}", COFFER_TOKEN: "t", COFFER_PASSWORD: "p", COFFER_TOKEN_FILE: "/t" };
  const { stdout } = await coffer(home, ["run", "--", "env"], {
    env: { ...own, OTHER: "stays", COFFER_URL: "http://x" },
  });
  t.notMatch(stdout, /COFFER_(CONFIG|TOKEN|PASSWORD)/);
  t.match(stdout, /OTHER=stays/);
  t.match(stdout, /COFFER_URL=http:\/\/x/);
});

await t.test("a command that is not there gives 127, one that cannot be executed 126", async (t) => {
  const none = await coffer(home, ["run", "--", "no-such-command-here"]);
  t.match(none, { code: 127, stdout: "", stderr: /no-such-command-here was not found/ });
  // For root every folder may be searched.
  const closed = join(home, "closed");
  mkdirSync(closed, { mode: 0 });
  const beside = { env: { PATH: `${closed}:${process.env["PATH"] ?? ""}` } };
  t.match(await coffer(home, ["run", "--", "no-such-command-here"], beside), { code: 127, stderr: /was not found/ });
  const file = join(home, "not-executable");
  writeFileSync(file, "echo hello\n");
  chmodSync(file, 0o644);
  t.match(await coffer(home, ["run", "--", file]), { code: 126, stdout: "", stderr: /EACCES/ });
});

await t.test("a variable that is a wrong notation stops it before the command starts", async (t) => {
  const outcome = await coffer(home, ["run", "--", "echo", "started"], { env: { PASSWORD: "coffer://a/b" } });
  t.match(outcome, { code: 2, stdout: "", stderr: /PASSWORD: not a notation/ });
});

await t.test("without a command it is a wrong use", async (t) => {
  t.match(await coffer(home, ["run"]), { code: 2, stdout: "" });
  t.match(await coffer(home, ["run", "--"]), { code: 2, stdout: "" });
});

await t.test("an older Node starts the checkout's own, and signals and exit codes pass through both", async (t) => {
  const old = { node: ["--no-experimental-strip-types"] };
  const never = { env: { NODE_OPTIONS: "--no-experimental-strip-types" } };
  t.equal((await coffer(home, ["run", "--", "sh", "-c", "exit 41"], never)).code, 41);
  t.equal((await coffer(home, ["run", "--", "sh", "-c", "exit 42"], old)).code, 42);
  t.equal((await coffer(home, ["run", "--", "sh", "-c", "kill -TERM $$"], old)).code, 143);
  const child = start(
    home,
    ["run", "--", "sh", "-c", "trap 'exit 9' TERM; echo ready; while :; do sleep 0.05; done"],
    old,
  );
  const outcome = outcomeOf(child);
  if (child.stdout !== null) await once(child.stdout, "data");
  child.kill("SIGTERM");
  t.equal((await outcome).code, 9);
});
