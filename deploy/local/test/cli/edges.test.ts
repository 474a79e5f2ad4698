import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import t from "tap";
import { testDirectory, until } from "@coffer/testkit";
import { outcomeOf, start } from "../../../../packages/cli/test/command.ts";
import { startBetween } from "../between.ts";
import { type Cli, newCli, newPerson, password } from "./cli-person.ts";
import { npmStart } from "../npm-start.ts";

const limits = { COFFER_LIMIT_STRICT: "10000", COFFER_LIMIT_STANDARD: "10000", COFFER_LIMIT_USER: "10000" };
const { url } = await npmStart(t, { directory: testDirectory(t), env: limits }).ready;
const secret = { COFFER_PASSWORD: password };
const ada = await newPerson(t, url, "ada@example.com");
const eve = await newPerson(t, url, "eve@example.com");
const vaultId = await ada.data(["vault", "create", "Private"]);
const between = await startBetween(t, url);
/** The same person, through `between`. */
const throughBetween = async (): Promise<Cli> => {
  const cli = newCli(t, between.url);
  await cli.data(["login", "--email", "ada@example.com"], { env: secret });
  return cli;
};
const note = '{"name": "Note", "notes": "quiet"}';

await t.test("a file that is not a store is not changed, and nothing is requested", async (t) => {
  const file = join(ada.home, "notes.txt");
  const hers = join(eve.home, "vaults.sealed");
  await eve.data(["sync", "--store", hers]);
  writeFileSync(file, "my notes\n");
  for (const [path, why] of [
    [file, /notes\.txt holds something that Coffer did not write/],
    [hers, /vaults\.sealed holds data of another person/],
    [ada.home, /cannot be read/],
  ] as const) {
    const before = path === ada.home ? "" : readFileSync(path, "utf8");
    t.match(await ada.run(["sync", "--store", path]), { code: 2, stdout: "", stderr: why });
    if (path !== ada.home) t.equal(readFileSync(path, "utf8"), before);
  }
});

await t.test("a store that cannot be written is a failure", async (t) => {
  const outcome = await ada.run(["sync", "--store", join(ada.home, "none", "vaults.sealed")]);
  t.match(outcome, {
    code: 1,
    stdout: /vault_created\tPrivate/,
    stderr: /cannot be written: ENOENT\n[^]*prints them again/,
  });
});

await t.test("a logout during a watch removes the store", async (t) => {
  const watcher = newCli(t, url);
  await watcher.data(["login", "--email", "ada@example.com"], { env: secret });
  const store = join(watcher.home, "vaults.sealed");
  await watcher.data(["sync", "--store", store]);
  t.ok(existsSync(store));
  const child = start(watcher.home, ["sync", "--watch", "--store", store], { env: { COFFER_URL: url } });
  let said = "";
  child.stderr?.on("data", (chunk: Buffer) => (said += chunk.toString()));
  const ended = outcomeOf(child);
  await until("it waits", () => said.includes("waiting for changes"));
  await watcher.data(["logout"]);
  t.equal((await ended).code, 3);
  t.notOk(existsSync(store));
});

for (const [signal, code] of [
  ["SIGINT", 130],
  ["SIGTERM", 143],
] as const)
  await t.test(`one look that ${signal} cuts off ends with ${code}`, async (t) => {
    const { home } = await throughBetween();
    const held = between.held;
    const child = start(home, ["sync"], { env: { COFFER_URL: between.url } });
    const ended = outcomeOf(child);
    await until("it waits for the service", () => between.held > held);
    child.kill(signal);
    t.match(await ended, { code, stdout: "", stderr: "" });
  });

await t.test("--org selects the vaults of an organization", async (t) => {
  await ada.data(["org", "create", "Second"]);
  const second = await ada.data(["vault", "create", "private", "--org", "Second"]);
  t.match(await ada.run(["record", "ls", "Private"]), { code: 2, stderr: /2 vaults have the name/ });
  t.equal((await ada.data(["vault", "ls"])).split("\n").length, 2);
  t.match((await ada.data(["vault", "ls", "--org", "Second"])).split("\n"), [new RegExp(`^${second}\t`)]);
  const id = await ada.data(["record", "create", "Private", "--org", "Second"], { input: note });
  t.match(await ada.data(["record", "ls", second]), id);
  t.match(await ada.run(["record", "ls", vaultId, "--org", "Second"]), { code: 5, stdout: "" });
  await ada.data(["vault", "rm", second, "--force"]);
});

await t.test("fields may begin with a byte order mark", async (t) => {
  const id = await ada.data(["record", "create", "Private"], { input: `\uFEFF${note}` });
  const file = join(ada.home, "fields.json");
  writeFileSync(file, `\uFEFF{"name": "Renamed"}`);
  await ada.data(["record", "set", "Private", id, "--file", file]);
  t.equal(await ada.data(["record", "get", "Private", id, "name"]), "Renamed");
  await ada.data(["record", "rm", "Private", id]);
});

await t.test("a record that cannot be opened is reported by an import and an export", async (t) => {
  const file = join(ada.home, "passwords.csv");
  writeFileSync(file, "name,url,username,password,note\none,,u,p,\ntwo,,u,p,\n");
  await ada.data(["import", "--vault", "Private", file]);
  const listed = JSON.parse(await ada.data(["record", "ls", "Private", "--json"])) as { id: string; name: string }[];
  const [one, two] = ["one", "two"].map((name) => listed.find((record) => record.name === name)?.id ?? "");
  await swapData(one ?? "", two ?? "");
  const again = await ada.run(["import", "--json", "--vault", "Private", file]);
  t.match(again, { code: 1, stderr: /not imported: one: it exists, but cannot be opened/ });
  t.match(JSON.parse(again.stdout), {
    imported: 0,
    already_there: 1,
    deleted_here: [],
    failed: [{ item: "one", reason: "it exists, but cannot be opened" }],
  });
  const through = await throughBetween();
  // As if a record was removed between the two lists.
  between.rewrite = (path, body) =>
    /\/vaults(\?|$)/.test(path) ? body.replace('"record_count":2', '"record_count":1') : body;
  const out = join(ada.home, "out.json");
  const exported = await through.run(["export", "--json", "--vault", "Private", "--format", "coffer-json", out]);
  t.match(exported, { code: 1, stderr: /could not be opened: 1 record/ });
  t.match(JSON.parse(exported.stdout), { records: 1, unreadable: 1 });
});

await t.test("the name of a vault cannot steer the terminal", async (t) => {
  const through = await throughBetween();
  between.rewrite = (path, body) =>
    /\/vaults(\?|$)/.test(path) ? body.replace('"Private"', '"a\\u001b]0;b\\nc"') : body;
  const file = join(ada.home, "three.csv");
  writeFileSync(file, "name,url,username,password,note\nthree,,u,p,\n");
  t.match(await through.run(["import", "--vault", vaultId, file]), {
    code: 0,
    stdout: "imported 1 record into a\\u{1b}]0;b\\u{a}c\n",
  });
});

/** Stores the ciphertext of one record as another's, as a malicious service could. */
async function swapData(id: string, from: string): Promise<void> {
  const profile = JSON.parse(readFileSync(join(ada.home, "coffer", "profile.json"), "utf8")) as {
    sessions: Record<string, { access_token: string }>;
  };
  const [session] = Object.values(profile.sessions);
  const headers = { authorization: `Bearer ${session?.access_token ?? ""}`, "content-type": "application/json" };
  const at = (record: string): string => `${url}/api/vaults/${vaultId}/records/${record}`;
  const { encrypted_data } = (await (await fetch(at(from), { headers })).json()) as { encrypted_data: string };
  const body = JSON.stringify({ type: "login", encrypted_data });
  const { status } = await fetch(at(id), { method: "PUT", headers, body });
  if (status !== 200) throw new Error(`the record was not changed: ${status}`);
}
