import { readdirSync, readFileSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import t from "tap";
import { testDirectory } from "@coffer/testkit";
import { type Cli, newCli, newPerson, password } from "./cli-person.ts";
import { npmStart } from "../npm-start.ts";

const limits = { COFFER_LIMIT_STRICT: "10000", COFFER_LIMIT_STANDARD: "10000", COFFER_LIMIT_USER: "10000" };
const { url } = await npmStart(t, { directory: testDirectory(t), env: limits }).ready;
const secret = { COFFER_PASSWORD: password };
const folder = testDirectory(t);
const file = join(folder, "alice.backup");

function keyFile(name: string, text: string): string {
  const path = join(folder, name);
  writeFileSync(path, `${text}\n`);
  return path;
}

const alice = newCli(t, url);
const recoveryKey = await alice.data(["register", "--email", "alice@example.com", "--org", "First"], { env: secret });
const key = keyFile("key", recoveryKey);
const wrong = keyFile("wrong", `cfr1_${"A".repeat(43)}`);
await alice.data(["vault", "create", "Private"]);
await alice.data(["record", "create", "Private"], {
  input: '{"name": "Mail", "username": "a", "password": "m4il-s3cret"}',
});
await alice.data(["folder", "create", "production"]);
await alice.data(["set", "coffer://production/database/field/password"], { input: "d4tabase-s3cret" });
await alice.data(["org", "create", "Second"]);
await alice.data(["folder", "create", "staging", "--org", "Second"]);
await alice.data(["set", "coffer://staging/queue/field/token", "--org", "Second"], { input: "qu3ue-s3cret" });

/** The command where no service is. */
const nowhere = (): Cli => newCli(t, "http://127.0.0.1:1");
const values = /m4il-s3cret|d4tabase-s3cret|qu3ue-s3cret/;

await t.test("the first backup on a machine needs the recovery key, and checks that it is the right one", async (t) => {
  for (const [args, code, message] of [
    [[], 2, /--recovery-key-file/],
    [["--recovery-key-file", wrong], 1, /this is not your present recovery key/],
    [["--recovery-key-file", keyFile("none", "cfr1_short")], 2, /not a recovery key/],
  ] as const) {
    const { code: found, stderr } = await alice.run(["backup", "create", ...args, file]);
    t.equal(found, code, stderr);
    t.match(stderr, message);
    t.throws(() => statSync(file), { code: "ENOENT" });
  }
  const { code, stderr } = await alice.run(["backup", "create", "--recovery-key-file", key, file]);
  t.equal(code, 0, stderr);
  t.match(stderr, /1 record of 1 vault, 2 secrets of 2 folders; the recovery key opens it/);
  t.equal(statSync(file).mode & 0o777, 0o600);
  t.notMatch(readFileSync(file, "utf8"), /Mail|Private|production|queue/);
  t.notMatch(readFileSync(file, "utf8"), values);
});

await t.test("later backups need no recovery key, and replace no file without --force", async (t) => {
  t.match(await alice.run(["backup", "create", file]), { code: 2, stderr: /exists already/ });
  const { code, stdout, stderr } = await alice.run(["backup", "create", "--force", "--json", file]);
  t.equal(code, 0, stderr);
  t.same(JSON.parse(stdout), { file, vaults: 1, records: 1, folders: 2, secrets: 2, missing: [] });
});

await t.test("the recovery key alone opens it, without a service, on another machine", async (t) => {
  const cli = nowhere();
  const listed = await cli.run(["backup", "ls", file, "--recovery-key-file", key]);
  t.equal(listed.code, 0, listed.stderr);
  t.match(listed.stderr, /the backup of alice@example\.com at http:/);
  for (const line of [/^record\tPrivate\tMail\t/m, /^secret\tproduction\tdatabase\t/m, /^secret\tstaging\tqueue\t/m])
    t.match(listed.stdout, line);
  t.notMatch(listed.stdout, values);
  const stderr = /this recovery key does not open the backup/;
  t.match(await cli.run(["backup", "ls", file, "--recovery-key-file", wrong]), { code: 1, stderr });

  const target = join(folder, "extracted");
  const extracted = await cli.run(["backup", "extract", file, target, "--recovery-key-file", key]);
  t.equal(extracted.code, 0, extracted.stderr);
  t.equal(statSync(target).mode & 0o777, 0o700);
  const [production = "", staging = "", vault = "", ...rest] = readdirSync(target).sort();
  t.same(rest, []);
  t.equal(statSync(join(target, vault)).mode & 0o777, 0o600);
  t.match(JSON.parse(readFileSync(join(target, production), "utf8")), {
    name: "production",
    organization: "First",
    secrets: [{ title: "database", fields: { password: "d4tabase-s3cret" } }],
  });
  t.match(JSON.parse(readFileSync(join(target, staging), "utf8")), { organization: "Second" });
  t.match(await cli.run(["backup", "extract", file, target, "--recovery-key-file", key]), {
    code: 2,
    stderr: /is not empty/,
  });

  const bob = await newPerson(t, url, "bob@example.com");
  await bob.data(["vault", "create", "Mine"]);
  await bob.data(["import", "--vault", "Mine", join(target, vault)]);
  t.equal(await bob.data(["record", "get", "Mine", "Mail", "password"]), "m4il-s3cret");
});

await t.test("a file that was cut off or changed is refused", async (t) => {
  const lines = readFileSync(file, "utf8").trimEnd().split("\n");
  const [header = "", part = ""] = lines;
  t.equal(lines.length, 2);
  const other = JSON.stringify({ ...(JSON.parse(header) as object), id: "01900000-0000-7000-8000-000000000000" });
  const cases: [string, string[], number, RegExp][] = [
    ["cut", [header], 1, /cut off/],
    ["half", [header, part.slice(0, part.length / 2)], 1, /./],
    ["twice", [header, part, part], 1, /./],
    ["another id", [other, part], 1, /./],
    ["later", [JSON.stringify({ coffer_personal_backup: 2 })], 2, /a later version of coffer/],
    ["none", ["hello"], 2, /no backup/],
  ];
  for (const [name, text, code, message] of cases) {
    const path = join(folder, `${name}.backup`);
    writeFileSync(path, `${text.join("\n")}\n`);
    const { code: found, stdout, stderr } = await nowhere().run(["backup", "ls", path, "--recovery-key-file", key]);
    t.same([found, stdout], [code, ""], `${name}: ${stderr}`);
    t.match(stderr, message, name);
  }
});

await t.test("what travel mode hides is named as missing, and a complete file stays", async (t) => {
  await alice.data(["travel", "on"]);
  const before = readFileSync(file, "utf8");
  t.match(await alice.run(["backup", "create", "--force", file]), {
    code: 1,
    stderr: /not in the backup: the vaults that travel mode hides.*is unchanged/,
  });
  t.equal(readFileSync(file, "utf8"), before);
  t.match(await alice.run(["backup", "create", join(folder, "travelling.backup")]), { code: 1 });
  await alice.data(["travel", "off"], { env: secret });
});

await t.test("after a new recovery key the next backup needs that one, and the former opens it no more", async (t) => {
  const renewed = await alice.data(
    ["password", "--new-password-file", keyFile("password", password), "--new-recovery-key"],
    {
      env: secret,
    },
  );
  const { code, stderr } = await alice.run(["backup", "create", "--force", file]);
  t.equal(code, 2);
  t.match(stderr, /the recovery key was replaced/);
  t.match(await alice.run(["backup", "create", "--force", "--recovery-key-file", key, file]), { code: 1 });
  const next = keyFile("next", renewed);
  t.match(await alice.run(["backup", "create", "--force", "--recovery-key-file", next, file]), { code: 0 });
  t.match(await nowhere().run(["backup", "ls", file, "--recovery-key-file", key]), { code: 1 });
  t.match(await nowhere().run(["backup", "ls", file, "--recovery-key-file", next]), { code: 0 });
});
