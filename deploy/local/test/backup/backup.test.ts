import { mkdirSync, readdirSync, readFileSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { gunzipSync, gzipSync } from "node:zlib";
import t from "tap";
import { serversIn } from "@coffer/stores";
import { testDirectory } from "@coffer/testkit";
import type { Installation } from "../../src/data/installation.ts";
import { newMachine, newPerson } from "../cli/cli-person.ts";
import { npmRun } from "../npm-run.ts";
import { npmStart, until } from "../npm-start.ts";

const directory = testDirectory(t);
const backups = testDirectory(t);
const backup = join(backups, "one.backup");
const limits = { COFFER_LIMIT_STRICT: "1000", COFFER_LIMIT_STANDARD: "10000", COFFER_LIMIT_USER: "10000" };
const file = t;
let coffer = npmStart(file, { directory, env: limits });
const { url } = await coffer.ready;
const port = { COFFER_PORT: new URL(url).port };
/** Each command starts npm and Node, which takes seconds on a busy machine. */
const long = { timeout: 900_000 };
const uri = "coffer://production/database/field/password";

const alice = await newPerson(t, url, "alice@example.com");
await alice.data(["folder", "create", "production"]);
await alice.data(["set", uri], { input: "s3cret" });
await alice.data(["app", "create", "api"]);
const machine = await newMachine(alice, "api", ["production:read"]);

/** The installation.json of a data directory. */
const installationOf = (of: string) => JSON.parse(readFileSync(join(of, "installation.json"), "utf8")) as Installation; // written by npm start

async function stop(): Promise<void> {
  process.kill(coffer.pid, "SIGTERM");
  await coffer.exited;
}

await t.test(
  "a backup of a running installation is one file for its owner alone, and says what is in it",
  async (t) => {
    const { code, stdout, stderr } = await npmRun("backup", [backup], directory);
    t.equal(code, 0, stderr);
    t.equal(stdout, `${backup}\n`);
    t.match(stderr, /ciphertext, hashed tokens.*the server's keys.*Store it as safely as the server/);
    t.equal(statSync(backup).mode & 0o777, 0o600);
    const text = gunzipSync(readFileSync(backup)).toString();
    t.match(JSON.parse(text.slice(0, text.indexOf("\n"))), { coffer_backup: 1, data_format: 3 });
    t.notMatch(text, /s3cret|correct horse|cft1_/);
  },
);

await t.test("a drill restores a backup elsewhere, reports it as complete, and so do the metrics", long, async (t) => {
  const { code, stdout, stderr } = await npmRun("drill", [backup], directory);
  t.equal(code, 0, stderr);
  t.match(stdout, /^the backup of \S+Z is whole: 1 audit chains with [1-9]\d* records, [1-9]\d+ rows, in [\d.]+ s\n$/);
  const metrics = async (): Promise<string> =>
    (await fetch(`${coffer.state().services["siem-forwarder"]?.management_url ?? ""}/metrics`)).text();
  await until(async () => /coffer_restore_drill_chains\{[^}]*\} 1\n/.test(await metrics()));
  t.match(await metrics(), /coffer_restore_drill_failed\{[^}]*\} 0\n/);

  // A chain that is not whole, in a backup of an installation that does not run.
  const lines = gunzipSync(readFileSync(backup)).toString().split("\n");
  const path = join(testDirectory(t), "changed.backup");
  const changed = lines.map((line) =>
    line.replace('\\"\\"action\\"\\":\\"\\"folder.created', '\\"\\"action\\"\\":\\"\\"folder.deleted'),
  );
  t.not(changed.join(), lines.join());
  writeFileSync(path, gzipSync(changed.join("\n")));
  const broken = await npmRun("drill", [path], testDirectory(t));
  t.match(broken, {
    code: 1,
    stdout: "",
    stderr: /is not whole: the audit chain [0-9a-f-]{36}: record \d+ is changed/,
  });
  t.match(await npmRun("drill", [], directory), { code: 1, stderr: /which backup\?/ });
});

await t.test("a backup replaces no file, and reports a fault in one line", long, async (t) => {
  const before = statSync(backup).mtimeMs;
  const cases: [string[], string, RegExp][] = [
    [[backup], directory, /one\.backup: it exists already/],
    [[join(backups, "none/x")], directory, /the folder does not exist/],
    [[join(backups, "two"), "three"], directory, /one file, not 2/],
    [["--all"], directory, /no argument "--all"/],
    [[join(backups, "two")], testDirectory(t), /holds no installation of Coffer/],
  ];
  for (const [args, data, message] of cases) {
    const { code, stdout, stderr } = await npmRun("backup", args, data);
    t.same([code, stdout], [1, ""], args.join(" "));
    t.match(stderr, message);
    t.equal(stderr.trimEnd().split("\n").length, 1, stderr);
  }
  t.same(readdirSync(backups), ["one.backup"]);
  t.equal(statSync(backup).mtimeMs, before);
});

await t.test("a running installation is not restored over", long, async (t) => {
  const { code, stderr } = await npmRun("restore", [backup, "--yes"], directory);
  t.equal(code, 1);
  t.match(stderr, /^coffer: already running: process \d+/);
});

await t.test("a backup of a later version is refused, and nothing is made or removed", long, async (t) => {
  const lines = gunzipSync(readFileSync(backup)).toString().split("\n");
  const header = JSON.parse(lines[0] ?? "") as { migrations: Record<string, Record<string, string>> };
  const foreign = { ...header.migrations, vaults: { ...header.migrations["vaults"], "9999_later.sql": "0" } };
  const cases: [object, RegExp][] = [
    [{ coffer_backup: 2, version: "9.0.0" }, /later version of Coffer \(9\.0\.0\): its format is 2/],
    [{ data_format: 4 }, /another version of Coffer .*: its data has format 4/],
    [{ migrations: foreign }, /no such migration 9999_later\.sql of vaults/],
    [{ migrations: { other: {} } }, /this one has no schema other/],
  ];
  const path = join(backups, "later");
  for (const [change, message] of cases) {
    writeFileSync(path, gzipSync([JSON.stringify({ ...header, ...change }), ...lines.slice(1)].join("\n")));
    const data = join(testDirectory(t), "data");
    const { code, stdout, stderr } = await npmRun("restore", [path, "--yes"], data);
    t.same([code, stdout], [1, ""]);
    t.match(stderr, message);
    t.equal(stderr.trimEnd().split("\n").length, 1, stderr);
    t.throws(() => readdirSync(data), { code: "ENOENT" });
  }
  t.match(await npmRun("restore", [], directory), { code: 1, stderr: /which backup\?/ });
  t.match(await npmRun("restore", [join(backups, "nowhere")], directory), { code: 1, stderr: /there is no such file/ });
});

await t.test("a backup that does not fit the database leaves nothing behind", long, async (t) => {
  const lines = gunzipSync(readFileSync(backup)).toString().split("\n");
  const path = join(backups, "with another column");
  writeFileSync(path, gzipSync(lines.join("\n").replace('"columns":["id"', '"columns":["other"')));
  const data = join(testDirectory(t), "data");
  const { code, stderr } = await npmRun("restore", [path], data);
  t.equal(code, 1);
  t.match(stderr, /has other columns$/m);
  t.same(readdirSync(data), ["run"]);
  t.same(serversIn(data), []);
});

await t.test("a restore replaces an installation only with --yes, and restores it exactly", long, async (t) => {
  const later = await newMachine(alice, "api", ["production:read"]);
  await alice.data(["set", uri], { input: "changed" });
  await stop();
  const refused = await npmRun("restore", [backup], directory);
  t.match(refused, { code: 1, stderr: /holds an installation, which a restore replaces: add --yes/ });
  const second = join(backups, "stopped.backup");
  t.match(await npmRun("backup", [second], directory), { code: 0 }, "a stopped one is backed up too");
  t.same(serversIn(directory), []);
  const { siemKey } = installationOf(directory);
  const restored = await npmRun("restore", [backup, "--yes"], directory);
  t.equal(restored.code, 0, restored.stderr);
  t.match(restored.stderr, /Changes after the backup are lost.*coffer folder trust/);
  t.equal(installationOf(directory).siemKey, siemKey, "sealed SIEM credentials can be opened");
  coffer = npmStart(file, { directory, env: { ...limits, ...port } });
  await coffer.ready;
  t.equal(coffer.stdout(), `coffer ready at ${url}\n`, "it is no new installation");
  t.equal(await alice.data(["read", uri, "--config", machine]), "s3cret");
  const gone = await alice.run(["read", uri, "--config", later]);
  t.not(gone.code, 0, "a machine that was made after the backup is unknown");

  // Alice's device has seen the history that the backup does not have.
  const rejected = await alice.run(["read", uri]);
  t.equal(rejected.code, 1);
  t.match(rejected.stderr, /was verified before.*restore from a backup.*coffer folder trust/);
  const folders = JSON.parse(await alice.data(["folder", "ls", "--json"])) as { id: string; name: string }[];
  const folder = folders.find(({ name }) => name === "production")?.id ?? "";
  const shown = await alice.data(["member", "key", "alice@example.com", "--json"]);
  const { fingerprint } = JSON.parse(shown) as { fingerprint: { hex: string } };
  await alice.data(["folder", "trust", folder, "--fingerprint", fingerprint.hex]);
  t.equal(await alice.data(["read", uri]), "s3cret");

  await stop();
  const data = join(testDirectory(t), "data");
  mkdirSync(data);
  t.match(await npmRun("restore", [second], data), { code: 0 });
  coffer = npmStart(file, { directory: data, env: { ...limits, ...port } });
  await coffer.ready;
  t.equal(await alice.data(["read", uri, "--config", later]), "changed");
  await stop();
});
