import t from "tap";
import { testDirectory } from "@coffer/testkit";
import { type Cli, newCli, newMachine, newPerson, password } from "./cli-person.ts";
import { npmStart } from "../npm-start.ts";

// An organization lives: three people, two applications, five machines; one leaves, one is stolen,
// a key is rotated.

const limits = { COFFER_LIMIT_STRICT: "10000", COFFER_LIMIT_STANDARD: "10000", COFFER_LIMIT_USER: "10000" };
const { url } = await npmStart(t, { directory: testDirectory(t), env: limits }).ready;
const alice = await newPerson(t, url, "alice@example.com");
const uri = "coffer://production/database/field/password";
const secret = { COFFER_PASSWORD: password };

/** A person who registers with an invitation. */
async function invited(email: string, role: string): Promise<Cli> {
  const token = await alice.data(["invite", "create", email, "--role", role]);
  const cli = newCli(t, url);
  await cli.data(["register", "--invite", "--email", email], { env: { ...secret, COFFER_TOKEN: token } });
  return cli;
}

/** Accepts the one folder that was shared with the person. */
async function accept(cli: Cli): Promise<void> {
  const [{ id }] = JSON.parse(await cli.data(["folder", "ls", "--json"])) as [{ id: string }];
  t.match(await cli.data(["folder", "accept", id, "--yes", "--json"]), /"from":"alice@example.com"/);
}

await alice.data(["folder", "create", "production"]);
await alice.data(["set", uri], { input: "s3cret" });
const bob = await invited("bob@example.com", "member");
const carol = await invited("carol@example.com", "admin");
const machines: string[] = [];
let bobId = "";

await t.test("people join by invitation, with the invited role", async (t) => {
  const members = JSON.parse(await carol.data(["member", "ls", "--json"])) as { email: string; role: string }[];
  t.strictSame(
    members.map(({ email, role }) => `${email} ${role}`),
    ["alice@example.com owner", "bob@example.com member", "carol@example.com admin"],
  );
  t.equal(await alice.data(["invite", "ls"]), "", "an accepted invitation is closed");
  const again = await carol.run(["invite", "create", "bob@example.com"]);
  t.match(again, { code: 1, stderr: /has this e-mail/ });
  t.match(await bob.run(["invite", "create", "dave@example.com"]), { code: 4 });
  const open = await carol.data(["invite", "create", "dave@example.com"]);
  t.match(await bob.run(["invite", "accept"], { input: open }), { code: 4 }, "it is dave's");
  const [id = ""] = (await carol.data(["invite", "ls"])).split("\t");
  await carol.data(["invite", "rm", id]);
  t.match(await bob.run(["invite", "accept"], { input: open }), { code: 5 });
});

await t.test("a folder is shared with colleagues who joined, and no words are compared", async (t) => {
  t.match(await bob.run(["read", uri]), { code: 5 });
  t.match(await alice.run(["folder", "share", "production", "unknown@example.com"]), { code: 5 });
  const share = ["folder", "share", "production", "bob@example.com", "--permission", "manage"];
  await alice.data(share);
  t.match(await bob.run(["read", uri]), { code: 4, stderr: /coffer folder accept/ });
  await accept(bob);
  t.equal(await bob.data(["read", uri]), "s3cret");
  await alice.data(share.slice(0, -1).concat("write"));
  await bob.data(["set", uri], { input: "bobs" });
  t.equal(await alice.data(["read", uri]), "bobs");
  await alice.data(["folder", "share", "production", "carol@example.com"]);
  await accept(carol);
  t.match(await carol.run(["set", uri], { input: "no" }), { code: 4 }, "read is what is given unless more is said");
});

await t.test("another device of a person reads from the keyring which folders were accepted", async (t) => {
  const device = newCli(t, url);
  await device.data(["login", "--email", "bob@example.com"], { env: secret });
  t.equal(await device.data(["read", uri]), "bobs");
});

await t.test("one person leaves, one machine is stolen, and the key is rotated", async (t) => {
  for (const app of ["api", "worker"]) await alice.data(["app", "create", app]);
  for (const app of ["api", "api", "api", "worker", "worker"]) {
    machines.push(await newMachine(alice, app, ["production:read"]));
  }
  const [stolen = "", ...others] = machines;
  t.equal(await alice.data(["read", "--config", stolen, uri]), "bobs");

  const clients = JSON.parse(await alice.data(["client", "ls", "--json"])) as { client_id: string }[];
  t.equal(clients.length, 5);
  const { client_id: id = "" } = JSON.parse(await alice.data(["whoami", "--config", stolen, "--json"])) as {
    client_id?: string;
  };
  await alice.data(["client", "rm", id]);
  const members = JSON.parse(await alice.data(["member", "ls", "--json"])) as { email: string; user_id: string }[];
  bobId = members.find(({ email }) => email === "bob@example.com")?.user_id ?? "";
  await alice.data(["member", "rm", "bob@example.com"]);
  t.match(await alice.run(["read", "--config", stolen, uri]), { code: 3 });
  t.match(await bob.run(["read", uri]), { code: 3 }, "it was bob's only organization");

  const rotated = JSON.parse(await alice.data(["folder", "rotate", "production", "--json"])) as object;
  t.match(rotated, { name: "production", key_version: 2 });
  t.equal(await alice.data(["read", uri]), "bobs");
  t.equal(await carol.data(["read", uri]), "bobs");
  for (const config of others) t.equal(await alice.data(["read", "--config", config, uri]), "bobs");
  await alice.data(["set", uri], { input: "new" });
  for (const config of others) t.equal(await alice.data(["read", "--config", config, uri]), "new");
  const holders = (await alice.data(["folder", "holders", "production"])).split("\n");
  t.equal(holders.length, 2 + others.length);
  await alice.data(["folder", "unshare", "production", "carol@example.com"]);
  t.match(await carol.run(["read", uri]), { code: 4 }, "an admin sees that it is there");
});

await t.test("how far a former member's signatures count is corrected", async (t) => {
  const [{ id: folder }] = JSON.parse(await alice.data(["folder", "ls", "--json"])) as [{ id: string }];
  const resource = `folder:${folder}`;
  t.match(JSON.parse(await alice.data(["member", "cut", bobId, resource, "--json"])), { hash: /^[0-9a-f]{64}$/ });
  t.equal(await alice.data(["read", uri]), "new");
  const given = ["--entry", `0:${"0".repeat(64)}`];
  t.match(await bob.run(["member", "cut", bobId, resource, ...given]), { code: 3 });
  t.match(await alice.run(["member", "cut", "bob@example.com", resource]), { code: 2, stderr: /no id/ });
  t.match(await alice.run(["member", "cut", bobId, "production"]), { code: 2, stderr: /folder:<id>/ });
  t.match(await alice.run(["member", "cut", bobId, resource, "--entry", "0:ab"]), { code: 2, stderr: /--entry/ });
  const carols = JSON.parse(await alice.data(["member", "ls", "--json"])) as { email: string; user_id: string }[];
  const present = carols.find(({ email }) => email === "carol@example.com")?.user_id ?? "";
  t.match(await alice.run(["member", "cut", present, resource]), { code: 2, stderr: /is a member/ });
});

await t.test("administrators see and end sessions", async (t) => {
  const other = newCli(t, url);
  await other.data(["login", "--email", "carol@example.com"], { env: secret });
  const sessions = JSON.parse(await alice.data(["member", "sessions", "carol@example.com", "--json"])) as object[];
  t.equal(sessions.length, 2);
  t.equal((JSON.parse(await carol.data(["sessions", "--json"])) as object[]).length, 2);
  await carol.data(["sessions", "--end-others"]);
  t.match(await other.run(["whoami"]), { code: 3 });
  await alice.data(["member", "sessions", "carol@example.com", "--end-all"]);
  t.match(await carol.run(["whoami"]), { code: 3 });
});
