import { mkdirSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import t from "tap";
import { contexts, newId, newKey, seal } from "@coffer/crypto";
import { personClient } from "@coffer/sdk";
import { testDirectory } from "@coffer/testkit";
import { startVaultServer } from "../../sdk/test/vault-server.ts";
import { knownVaultKeys } from "../src/known-vault-keys.ts";
import { coffer } from "./command.ts";

await t.test("what is known of a service's vault keys stays, for it alone, in a private file", async (t) => {
  const directory = join(testDirectory(t), "coffer");
  const me = newKey();
  const here = knownVaultKeys(directory, "http://localhost:8080", me);
  t.same(await here.load(), {});
  t.match(await Promise.all([here.add({ a: "1" }), here.add({ b: "2" })]), [{ a: "1" }, { b: "2" }]);
  const other = knownVaultKeys(directory, "http://127.0.0.1:8080", me);
  t.match(await other.add({ a: "another", c: "3" }), { a: "1", c: "3" }, "and is what counts in another process");
  t.same(await here.load(), { a: "1", b: "2", c: "3" }, "the first word counts");
  t.same(await knownVaultKeys(directory, "https://coffer.example.com", me).load(), {});
  const path = join(directory, "known-vault-keys.json");
  t.equal(statSync(path).mode & 0o777, 0o600);
  const names = Object.keys(JSON.parse(readFileSync(path, "utf8")) as object);
  t.equal(names.length, 1);
  t.match(names[0], /^http:\/\/127\.0\.0\.1:8080 /);
});

await t.test(
  "who forgets what travel mode hides forgets nobody else's, who is logged in there at another time",
  async (t) => {
    const directory = testDirectory(t);
    const [mine, theirs] = [newKey(), newKey()].map((key) => knownVaultKeys(directory, "http://localhost:8080", key));
    await mine?.add({ seen: "1", hidden: "2" });
    await theirs?.add({ other: "3" });
    await mine?.keepOnly?.(["seen"]);
    t.same(await mine?.load(), { seen: "1" });
    t.same(await theirs?.load(), { other: "3" });
    await mine?.keepOnly?.([]);
    t.same([await mine?.load(), await theirs?.load()], [{}, { other: "3" }]);
  },
);

await t.test("a file that cannot be read is not taken for an empty one", async (t) => {
  const directory = testDirectory(t);
  writeFileSync(join(directory, "known-vault-keys.json"), "{");
  const known = knownVaultKeys(directory, "http://localhost:8080", newKey());
  await t.rejects(known.load(), { message: /known-vault-keys\.json cannot be read: .*; move it away/ });
  await t.rejects(known.add({ a: "1" }), { message: /cannot be read/ });
});

await t.test("the command seals nothing under another key than a vault had when it was first seen", async (t) => {
  const server = await startVaultServer(t);
  const home = testDirectory(t);
  const profile = { version: 1, device_id: newId(), url: server.url, sessions: { [server.url]: server.session } };
  mkdirSync(join(home, "coffer"));
  writeFileSync(join(home, "coffer", "profile.json"), JSON.stringify(profile));
  const { id } = await personClient(server.session, server.url).vaults.create("Private");
  const run = (...args: string[]): ReturnType<typeof coffer> =>
    coffer(home, args, { env: { COFFER_URL: server.url }, input: '{"name": "Example", "password": "s3cret"}' });
  t.match(await run("vault", "ls"), { code: 0, stdout: /Private/ });
  const honest = server.vaults.get(id) as NonNullable<ReturnType<typeof server.vaults.get>>;
  const encrypted_key = await seal(server.session.public_key, newKey(), contexts.vaultKey(id));
  server.vaults.set(id, { ...honest, type: "shared", encrypted_key });
  const refused = await run("record", "create", "Private");
  t.match(refused, { stdout: "", stderr: /another key for the vault Private than before/ });
  t.not(refused.code, 0);
  t.equal(server.records.size, 0);
  server.vaults.set(id, honest);
  t.match(await run("record", "create", "Private"), { code: 0 });

  rmSync(join(home, "coffer", "known-vault-keys.json"));
  mkdirSync(join(home, "coffer", "known-vault-keys.json"));
  t.match(await run("vault", "ls"), { code: 0, stdout: /Private/ }, "where no mark can be kept, a list is one");
  const unkept = await run("record", "create", "Private");
  t.match(unkept, {
    stdout: "",
    stderr: /Private is not used, since it cannot be remembered[^]*known-vault-keys\.json/,
  });
  t.not(unkept.code, 0);
  t.equal(server.records.size, 1);
});
