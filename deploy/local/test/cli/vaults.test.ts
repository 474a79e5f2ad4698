import { readFileSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import t from "tap";
import { testDirectory } from "@coffer/testkit";
import { outcomeOf, start } from "../../../../packages/cli/test/command.ts";
import { type Cli, newCli, newPerson, password } from "./cli-person.ts";
import { npmStart, until } from "../npm-start.ts";

const limits = { COFFER_LIMIT_STRICT: "10000", COFFER_LIMIT_STANDARD: "10000", COFFER_LIMIT_USER: "10000" };
const { url } = await npmStart(t, { directory: testDirectory(t), env: limits }).ready;
const secret = { COFFER_PASSWORD: password };
const alice = await newPerson(t, url, "alice@example.com");
const invitation = await alice.data(["invite", "create", "bob@example.com"]);
const bob = newCli(t, url);
await bob.data(["register", "--email", "bob@example.com", "--invite"], {
  env: { ...secret, COFFER_TOKEN: invitation },
});

const bobToo = newCli(t, url);

const example = '{"name": "Example", "username": "you", "password": "s3cret"}';
let vaultId = "";

/** A running command, and its printed lines. */
function watching(
  cli: Cli,
  args: string[],
): { lines: string[]; stderr(): string; stop(): void; ended: Promise<number | null> } {
  const child = start(cli.home, args, { env: { COFFER_URL: url } });
  const lines: string[] = [];
  let errors = "";
  let rest = "";
  child.stdout?.on("data", (chunk: Buffer) => {
    const parts = (rest + chunk.toString()).split("\n");
    rest = parts.pop() ?? "";
    lines.push(...parts);
  });
  child.stderr?.on("data", (chunk: Buffer) => (errors += chunk.toString()));
  const ended = outcomeOf(child).then(({ code }) => code);
  t.teardown(() => void child.kill("SIGKILL"));
  return { lines, stderr: () => errors, stop: () => void child.kill("SIGTERM"), ended };
}

await t.test("a vault and its records, from the command line", async (t) => {
  vaultId = await alice.data(["vault", "create", "Team", "--type", "shared"]);
  t.match(vaultId, /^[0-9a-f-]{36}$/);
  const id = await alice.data(["record", "create", "team"], { input: example });
  t.match(await alice.data(["vault", "ls"]), new RegExp(`^${vaultId}\tTeam\tshared\tmanage\t1\tno\t`));
  const listed = await alice.data(["record", "ls", "Team"]);
  t.match(listed, new RegExp(`^${id}\tExample\tlogin\tname,username,password\t`));
  t.notMatch(listed + (await alice.data(["record", "ls", "Team", "--json"])), "s3cret");
  t.equal(await alice.data(["record", "get", "Team", "Example", "password"]), "s3cret");
  t.equal(
    await alice.data(["record", "get", vaultId, id]),
    `id: ${id}\ntype: login\nname: Example\nusername: you\npassword: s3cret`,
  );
  t.match(JSON.parse(await alice.data(["record", "get", "Team", id, "--json"])), {
    id,
    vault_id: vaultId,
    name: "Example",
    fields: { password: "s3cret" },
  });
  await alice.data(["record", "set", "Team", "Example", "password"], { input: "n3w\n" });
  t.equal(await alice.data(["record", "get", "Team", "Example", "password"]), "n3w");
  t.equal(await alice.data(["record", "get", "Team", "Example", "username"]), "you", "the others stay");
});

await t.test("a missing or wrong object is refused with its code", async (t) => {
  t.match(await alice.run(["record", "get", "Team", "Example", "nothing"]), { code: 5, stdout: "" });
  t.match(await alice.run(["record", "get", "Team", "Nothing"]), { code: 5, stdout: "" });
  t.match(await alice.run(["vault", "rm", "Nothing"]), { code: 5 });
  t.match(await alice.run(["vault", "rm", "Team"]), { code: 1, stderr: /holds records \(1\): add --force/ });
  t.match(await alice.run(["vault", "set", "Team"]), { code: 2, stderr: /nothing to change/ });
  t.match(await alice.run(["record", "set", "Team", "Example", "password"]), { code: 2, stderr: /--allow-empty/ });
  for (const [input, why] of [
    ["", /not JSON/],
    ["s3cret", /not JSON/],
    ["[]", /JSON object/],
    ['{"name": 5}', /text in quotes/],
  ] as const) {
    const outcome = await alice.run(["record", "create", "Team"], { input });
    t.match(outcome, { code: 2, stdout: "", stderr: why });
    t.notMatch(outcome.stderr, "s3cret");
  }
  t.match(await alice.run(["record", "create", "Team", "--type", "No Type"], { input: example }), { code: 2 });
  const { updated_at } = JSON.parse(await alice.data(["record", "get", "Team", "Example", "--json"])) as {
    updated_at: string;
  };
  const guarded = ["record", "set", "Team", "Example", "note", "--unchanged-since"];
  t.match(await alice.run([...guarded, "2026-01-01T00:00:00Z"], { input: "x" }), { code: 1, stderr: /has changed/ });
  await alice.data([...guarded, updated_at], { input: "x" });
});

await t.test("a vault is shared without comparing words, and used after it is accepted", async (t) => {
  await alice.data(["vault", "create", "Own"]);
  const own = ["vault", "share", "Own", "bob@example.com"];
  t.match(await alice.run(own), { code: 2, stderr: /personal vault/ });
  await alice.data(["vault", "rm", "Own"]);
  t.match(await alice.run(["vault", "share", "Team", "carol@example.com"]), { code: 5, stderr: /names no member/ });
  const share = ["vault", "share", "Team", "bob@example.com", "--permission", "write"];
  t.match(JSON.parse(await alice.data([...share, "--json"])), { permission: "write" });
  t.match(await alice.data(["vault", "members", "Team"]), /\tbob@example\.com\t.*\twrite\t/);
  t.match(await bob.run(["record", "get", "Team", "Example", "password"]), { code: 4, stderr: /vault accept/ });
  await bob.data(["vault", "accept", vaultId, "--yes"]);
  t.equal(await bob.data(["record", "get", "Team", "Example", "password"]), "n3w");
  await bobToo.data(["login", "--email", "bob@example.com"], { env: secret });
  t.equal(await bobToo.data(["record", "get", "Team", "Example", "password"]), "n3w", "on another device too");
  t.match(await bob.run(["vault", "rm", "Team", "--force"]), { code: 4 });
  t.match(await bob.run(["vault", "rotate", "Team"]), { code: 4, stderr: /do not manage/ });
});

await t.test("a vault gets a new key and another name, and all members continue", async (t) => {
  const rotated = await alice.run(["vault", "rotate", "Team"]);
  t.match(rotated, { code: 0, stderr: /Team has a new key \(version 2\)[^]*person alice@[^]*person bob@/ });
  for (const cli of [alice, bob, bobToo])
    t.equal(await cli.data(["record", "get", "Team", "Example", "password"]), "n3w");
  await alice.data(["vault", "set", "Team", "--name", "Platform"]);
  t.equal(await bobToo.data(["record", "get", "Platform", "Example", "password"]), "n3w");
  await alice.data(["vault", "set", "Platform", "--name", "Team"]);
});

await t.test("sync prints everything, and with a store only later changes", async (t) => {
  const store = join(bob.home, "vaults.sealed");
  const first = await bob.data(["sync", "--store", store]);
  t.match(first, new RegExp(`^vault_created\tTeam\t\tshared\t${vaultId}\nrecord_created\tTeam\tExample\tlogin\t`));
  t.notMatch(first, "n3w");
  t.equal(statSync(store).mode & 0o777, 0o600);
  t.notMatch(readFileSync(store, "utf8"), /\bTeam\b|\bExample\b|\blogin\b/);
  t.equal(await bob.data(["sync", "--store", store]), "");
  await alice.data(["record", "set", "Team", "Example", "password"], { input: "third" });
  const [line = ""] = (await bob.data(["sync", "--store", store, "--json", "--show-values"])).split("\n");
  t.match(JSON.parse(line), { action: "record_updated", record: { name: "Example", fields: { password: "third" } } });
  t.match(await bob.run(["sync", "--url", "http://127.0.0.1:9"]), { code: 2 });
});

await t.test("sync --watch prints a change when it happens, and ends at a signal or a logout", async (t) => {
  const json = watching(bob, ["sync", "--watch", "--json"]);
  const plain = watching(alice, ["sync", "--watch"]);
  await until(() => json.stderr().includes("waiting for changes") && plain.stderr().includes("waiting for changes"));
  const id = await alice.data(["record", "create", "Team", "--type", "secure_note"], {
    input: '{"name": "Note", "notes": "quiet"}',
  });
  await until(
    () => json.lines.some((line) => line.includes('"Note"')) && plain.lines.some((line) => line.includes(id)),
  );
  t.match(JSON.parse(json.lines.at(-1) ?? ""), { action: "record_created", record: { id, type: "secure_note" } });
  t.equal(plain.lines.at(-1), `record_created\tTeam\tNote\tsecure_note\t${id}`);
  t.notMatch(json.lines.join() + plain.lines.join(), "quiet");
  await alice.data(["record", "rm", "Team", "Note"]);
  await until(() => plain.lines.at(-1) === `record_deleted\tTeam\t\t\t${id}`);
  plain.stop();
  t.equal(await plain.ended, 0);
  const bobsId = (JSON.parse(await bob.data(["whoami", "--json"])) as { user: { email: string } }).user.email;
  await alice.data(["member", "sessions", bobsId, "--end-all"]);
  t.equal(await json.ended, 3);
  t.match(json.stderr(), /admin_revoked/);
  await bob.data(["login", "--email", "bob@example.com"], { env: secret });
});

await t.test("travel mode hides, and only the password ends it", async (t) => {
  t.match(await bob.data(["travel", "status"]), /^off\n?$/);
  await bob.data(["vault", "create", "With me"]);
  await bob.data(["vault", "set", "With me", "--safe-for-travel", "yes"]);
  t.match(JSON.parse(await bob.data(["travel", "on", "--json"])), { enabled: true });
  t.match((await bob.data(["vault", "ls"])).split("\n"), [/With me/]);
  t.match(await bob.run(["record", "ls", vaultId]), { code: 5 });
  const made = await bob.run(["vault", "create", "On the way"]);
  t.match(made, { code: 0, stderr: /you travel: the new vault is hidden until `coffer travel off`/ });
  t.match(await bob.run(["travel", "off"], { env: { COFFER_PASSWORD: "a wrong password" } }), { code: 3 });
  const file = join(bob.home, "password");
  writeFileSync(file, `${password}\n`);
  await bob.data(["travel", "off", "--password-file", file]);
  await bob.data(["vault", "rm", "On the way"]);
  t.equal((await bob.data(["vault", "ls"])).split("\n").length, 2);
  await alice.data(["travel", "on", "--member", "bob@example.com"]);
  t.match(await bob.data(["travel", "status"]), /^on since/);
  await alice.data(["travel", "off", "--member", "bob@example.com"]);
  t.match(await alice.run(["vault", "unshare", "Team", "bob@example.com"]), {
    code: 0,
    stderr: /Team has a new key \(version 3\)[^]*not name any more\n {2}person bob@example\.com/,
  });
  t.match((await bob.data(["vault", "ls"])).split("\n"), [/With me/]);
  await alice.data(["vault", "rm", "Team", "--force"]);
  t.equal(await alice.data(["vault", "ls"]), "");
});
