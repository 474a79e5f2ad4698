import { readFileSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import t from "tap";
import { testDirectory } from "@coffer/testkit";
import { knownVaultKeys } from "../src/known-vault-keys.ts";

await t.test("what is known of a service's vault keys stays, for it alone, in a private file", async (t) => {
  const directory = join(testDirectory(t), "coffer");
  const here = knownVaultKeys(directory, "http://localhost:8080");
  t.same(await here.load(), {});
  await Promise.all([here.add({ a: "1" }), here.add({ b: "2" })]);
  await knownVaultKeys(directory, "http://127.0.0.1:8080").add({ a: "another", c: "3" });
  t.same(await here.load(), { a: "1", b: "2", c: "3" }, "the first word counts");
  t.same(await knownVaultKeys(directory, "https://coffer.example.com").load(), {});
  const path = join(directory, "known-vault-keys.json");
  t.equal(statSync(path).mode & 0o777, 0o600);
  t.same(Object.keys(JSON.parse(readFileSync(path, "utf8")) as object), ["http://127.0.0.1:8080"]);
});

await t.test("a file that cannot be read is not taken for an empty one", async (t) => {
  const directory = testDirectory(t);
  writeFileSync(join(directory, "known-vault-keys.json"), "{");
  const known = knownVaultKeys(directory, "http://localhost:8080");
  await t.rejects(known.load(), { message: /known-vault-keys\.json cannot be read: .*; move it away/ });
  await t.rejects(known.add({ a: "1" }), { message: /cannot be read/ });
});
