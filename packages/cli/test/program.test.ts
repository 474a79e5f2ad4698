import { spawn } from "node:child_process";
import { once } from "node:events";
import { closeSync, openSync } from "node:fs";
import type { Readable } from "node:stream";
import { text } from "node:stream/consumers";
import { CofferError } from "@coffer/sdk";
import t from "tap";
import type { CommandRow } from "../src/command-row.ts";
import { exitCodeFor, Failure } from "../src/failure.ts";
import { groups, nouns } from "../src/rows/index.ts";
import { coffer, command } from "./command.ts";

const rows: CommandRow[] = groups.flatMap(([, each]) => each);
const home = t.testdir({});
// audit export has --format, and writes its own document.
const silent = new Set(["audit export", "completion", "logout", "run", "scan"]);

await t.test("every command has examples, which come first in its help, and code that loads", async (t) => {
  for (const row of rows) {
    t.ok(row.examples.length > 0 && row.examples.every((example) => example.includes(`coffer ${row.name}`)), row.name);
    t.type(await row.load(), "function", row.name);
  }
  const help = await coffer(home, ["token", "create", "--help"]);
  t.match(help, { code: 0, stdout: /^Examples:\n {2}coffer token create --app api --folder production:read\n/ });
});

await t.test("every command that prints data has --json", (t) => {
  for (const { name, options } of rows)
    t.equal(
      options.some(({ flags }) => flags === "--json"),
      !silent.has(name),
      name,
    );
  t.end();
});

await t.test("no option takes a password, token or value itself", (t) => {
  for (const { name, options } of rows)
    for (const { flags } of options) t.notMatch(flags, /--(password|token|value|secret|key) /, `${name} ${flags}`);
  t.end();
});

for (const [what, args] of [
  ["no command", []],
  ["an unknown command", ["reed"]],
  ["an unknown option", ["read", "--uri", "x"]],
  ["a missing argument", ["read"]],
  ["too many arguments", ["get", "a", "b"]],
  ["a missing required option", ["token", "create", "--app", "api"]],
  ["a noun alone", ["folder"]],
  ["an unknown type", ["set", "--type", "stone", "coffer://a/b/field/c"]],
  ["a wrong notation", ["read", "coffer://a/b/c"]],
  ["a wrong limit", ["audit", "ls", "--limit", "0"]],
  ["an e-mail for an actor's id", ["audit", "ls", "--actor", "a@example.com"]],
  ["a time that is none", ["audit", "ls", "--from", "soon"]],
  ["an address that is none", ["login", "--email", "a@example.com", "--url", "nonsense"]],
  ["an address that is none, also without a session", ["ls", "--url", "nonsense"]],
  ["a configuration that is not there", ["ls", "--config", "nope.json"]],
] as const)
  await t.test(`${what} is exit 2, with nothing on stdout`, async (t) => {
    const outcome = await coffer(home, [...args]);
    t.match(outcome, { code: 2, stdout: "" });
    t.not(outcome.stderr, "");
  });

await t.test("without a login it is exit 3, without an address exit 2, without a service exit 7", async (t) => {
  t.match(await coffer(home, ["whoami"]), { code: 3, stdout: "", stderr: /coffer login/ });
  const login = ["login", "--email", "a@example.com"];
  t.match(await coffer(home, login, { env: { COFFER_PASSWORD: "p" } }), { code: 2, stderr: /npm start/ });
  const env = { COFFER_PASSWORD: "p", COFFER_URL: "http://127.0.0.1:9" };
  t.match(await coffer(home, login, { env }), { code: 7, stdout: "", stderr: /cannot be reached/ });
});

await t.test("an empty COFFER_CONFIG is named where a machine could have been meant", async (t) => {
  const env = { COFFER_CONFIG: "", COFFER_URL: "http://127.0.0.1:9" };
  t.match(await coffer(home, ["ls"], { env }), {
    code: 3,
    stderr: /^coffer: COFFER_CONFIG is empty, .*: run `coffer login/,
  });
  t.match(await coffer(home, ["vault", "ls"], { env }), { code: 3, stderr: /^coffer: not logged in/ });
});

await t.test("a wrong use is said in one way, with a command that may have been meant, and no other", async (t) => {
  const saidOf = async (...args: string[]): Promise<string> => (await coffer(home, args)).stderr;
  t.match(await saidOf("reed"), /^coffer: unknown command 'reed'\n\(Did you mean read\?\)\n/);
  t.match(await saidOf("bogus"), /^coffer: unknown command 'bogus'\n\(coffer --help/);
  t.match(await saidOf("folder", "share", "--x"), /\(coffer folder share --help shows how\)\n$/);
  t.match(await saidOf("read", "--jsn", "x"), /^coffer: unknown option '--jsn'\n\(Did you mean --json\?\)\n/);
  t.match(await saidOf("read", "coffer://a"), /^coffer: not a notation \(1 part instead of four\)/);
  t.match(await saidOf("folder"), /^Examples/);
});

await t.test("a value given as an argument, or to an option that there is not, is in no message", async (t) => {
  for (const args of [
    ["set", "coffer://a/b/field/c", "s3cretvalue"],
    ["set", "coffer://a/b/field/c", "it's\n'two' lines, s3cretvalue.\nand s3cretvalue"],
    ["record", "set", "Private", "Example", "password", "s3cretvalue"],
    ["login", "--email", "a@example.com", "--password=s3cretvalue"],
    ["login", "--email", "a@example.com", "--passwort='s3cretvalue'\ns3cretvalue"],
  ]) {
    const { code, stderr } = await coffer(home, args);
    t.equal(code, 2);
    t.notMatch(stderr, /s3cretvalue|two|lines/);
    t.match(stderr, /^coffer: (too many arguments for 'set'\. .* but got \d|unknown option '--passwor[dt]=\*\*\*')/);
  }
});

await t.test("the help of what several commands are about begins with examples too", async (t) => {
  for (const noun of Object.keys(nouns)) {
    const { code, stdout } = await coffer(home, [noun, "--help"]);
    t.equal(code, 0);
    t.match(stdout, new RegExp(`^Examples:\\n  .*coffer ${noun} `), noun);
  }
});

await t.test("help shows itself", async (t) => {
  const { stdout } = await coffer(home, ["--help"]);
  for (const args of [["help"], ["help", "--help"], ["help", "-h"]])
    t.match(await coffer(home, args), { code: 0, stdout, stderr: "" });
  t.match(await coffer(home, ["help", "read"]), { code: 0, stdout: /coffer read/ });
});

await t.test("a token that is cut short is exit 2, before any request", async (t) => {
  const env = { COFFER_TOKEN: "cft1_half", COFFER_URL: "http://127.0.0.1:9" };
  const outcome = await coffer(home, ["bootstrap", "--config", "machine.json"], { env });
  t.match(outcome, { code: 2, stdout: "", stderr: /^coffer: .*token/ });
});

await t.test("a new password that is too short is exit 2, before any request", async (t) => {
  const register = (password: string) =>
    coffer(home, ["register", "--email", "a@example.com"], {
      env: { COFFER_PASSWORD: password, COFFER_URL: "http://127.0.0.1:9" },
    });
  t.match(await register("nine char"), { code: 2, stdout: "", stderr: /at least 10 characters/ });
  t.match(await register(""), { code: 2, stderr: /empty/ });
  t.match(await register("ten 🔑🔑🔑🔑🔑🔑"), { code: 7 });
});

await t.test("output that cannot be written is one line and exit 1, not a trace", async (t) => {
  const full = openSync("/dev/full", "w");
  const child = spawn(process.execPath, [command, "--version"], { stdio: ["ignore", full, "pipe"] });
  const [stderr, [code]] = await Promise.all([
    text(child.stderr as Readable),
    once(child, "close") as Promise<[number]>,
  ]);
  closeSync(full);
  t.equal(stderr, "coffer: the output cannot be written: ENOSPC\n");
  t.equal(code, 1);
});

await t.test("--version prints the version", async (t) => {
  t.match(await coffer(home, ["--version"]), { code: 0, stdout: /^\d+\.\d+\.\d+\n$/ });
});

await t.test("NO_COLOR and a pipe mean no escape sequences", async (t) => {
  const { stdout, stderr } = await coffer(home, ["--help"], { env: { NO_COLOR: "1" } });
  t.notOk((stdout + stderr).includes("\u001b"));
});

await t.test("each error has the exit code that scripts rely on", (t) => {
  for (const [code, exit] of [
    ["invalid_request", 2],
    ["configuration", 2],
    ["internal_error", 1],
    ["conflict", 1],
    ["not_decrypted", 1],
    ["invalid_token", 3],
    ["invalid_credentials", 3],
    ["token_reused", 3],
    ["otp_required", 3],
    ["reauth_required", 3],
    ["access_denied", 4],
    ["plan_required", 4],
    ["no_key", 4],
    ["secret_not_found", 5],
    ["not_found", 5],
    ["rate_limited", 6],
    ["network", 7],
    ["unavailable", 7],
  ] as const)
    t.equal(exitCodeFor(new CofferError(code, "")), exit, code);
  t.equal(exitCodeFor(new Failure(130, "")), 130);
  t.equal(exitCodeFor(new Error("")), 1);
  t.end();
});
