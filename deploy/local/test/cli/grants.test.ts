import t from "tap";
import { readFileSync } from "node:fs";
import { testDirectory } from "@coffer/testkit";
import { newMachine, newPerson } from "./cli-person.ts";
import { npmStart } from "../npm-start.ts";

// An existing machine gets and loses folders.

const limits = { COFFER_LIMIT_STRICT: "10000", COFFER_LIMIT_STANDARD: "10000", COFFER_LIMIT_USER: "10000" };
const { url } = await npmStart(t, { directory: testDirectory(t), env: limits }).ready;
const person = await newPerson(t, url, "owner@example.com");
for (const folder of ["production", "staging"]) await person.data(["folder", "create", folder]);
await person.data(["app", "create", "api"]);
const uri = (folder: string): string => `coffer://${folder}/database/field/password`;
await person.data(["set", uri("production")], { input: "s3cret" });
await person.data(["set", uri("staging")], { input: "other" });
const idOf = (configuration: string): string =>
  (JSON.parse(readFileSync(configuration, "utf8")) as { client_id: string }).client_id;

await t.test("a machine whose token lost the folder's key at a rotation gets it from the next manager", async (t) => {
  const token = await person.data(["token", "create", "--app", "api", "--folder", "production:read"]);
  await person.data(["folder", "rotate", "production"]);
  const machine = `${person.home}/late.json`;
  await person.data(["bootstrap", "--config", machine], { env: { COFFER_TOKEN: token } });
  const read = () => person.run(["read", "--config", machine, uri("production")]);
  t.match(await read(), { code: 4, stdout: "", stderr: /not sealed to you yet/ });
  await person.data(["read", uri("production")]);
  t.match(await read(), { code: 0, stdout: "s3cret\n" });
});

await t.test("a machine gets another folder and more permissions, and loses it", async (t) => {
  const machine = await newMachine(person, "api", ["production:read"]);
  const staging = (verb: string, ...more: string[]) =>
    person.run(["client", verb, idOf(machine), "staging", ...more, "--json"]);
  const read = () => person.run(["read", "--config", machine, uri("staging")]);
  const set = () => person.run(["set", "--config", machine, uri("staging")], { input: "by a machine" });
  t.match(await read(), { code: 4, stdout: "" });
  const { code, stdout } = await staging("share");
  t.equal(code, 0, "its key is the one of its join");
  t.match(JSON.parse(stdout), { client_id: idOf(machine), permission: "read", key_version: 1 });
  t.match(await read(), { code: 0, stdout: "other\n" });
  t.match(await set(), { code: 4 });
  t.match(await staging("share", "--permission", "write"), { code: 0 });
  t.match(await set(), { code: 0 });
  t.match(await staging("unshare"), { code: 0, stderr: /folder rotate staging/ });
  t.match(await read(), { code: 4, stdout: "" });
  t.match(await person.run(["read", "--config", machine, uri("production")]), { code: 0 }, "and no other");
  t.match(await person.run(["client", "share", "0190c0de-0000-7000-8000-000000000000", "staging"]), { code: 5 });
});

await t.test(
  "a name of two machines is refused with their client ids; a key is sealed by client id alone",
  async (t) => {
    await person.data(["app", "create", "twins"]);
    const [one, two] = [
      await newMachine(person, "twins", ["production:read"]),
      await newMachine(person, "twins", ["production:read"]),
    ].map(idOf);
    for (const args of [
      ["client", "rm", "TWINS"],
      ["client", "unshare", "twins", "staging"],
    ]) {
      const refused = await person.run(args);
      t.match(refused, { code: 2, stdout: "" });
      for (const id of [one, two]) t.match(refused.stderr, `\n  ${id ?? ""} (twins, since `);
    }
    await person.data(["client", "rm", two ?? ""]);
    const byName = await person.run(["client", "share", "twins", "staging"]);
    t.match(byName, {
      code: 2,
      stdout: "",
      stderr: `by its client id, not by its name: name one of\n  ${one ?? ""} (`,
    });
    t.match(await person.run(["client", "rm", "twins"]), { code: 0, stderr: `the machine twins (${one ?? ""})` });
    t.match(await person.run(["client", "rm", "twins"]), { code: 5 });
  },
);

await t.test("a machine that cannot write its configuration follows a rotation too", async (t) => {
  const machine = await newMachine(person, "api", ["production:read"]);
  const text = readFileSync(machine, "utf8");
  await person.data(["folder", "rotate", "production"]);
  const options = { env: { COFFER_CONFIG: text } };
  for (let starts = 0; starts < 2; starts += 1)
    t.match(await person.run(["read", uri("production")], options), { code: 0, stdout: "s3cret\n" });
  t.match(JSON.parse(text), { histories: { resources: Object } });
});

await t.test("folders and applications get other names", async (t) => {
  await person.data(["folder", "rename", "staging", "testing"]);
  t.equal(await person.data(["read", uri("testing")]), "by a machine");
  t.match(await person.run(["folder", "rename", "testing", "production"]), { code: 1 }, "but no name that is taken");
  const renamed = await person.data(["app", "rename", "api", "gateway", "--description", "the public API", "--json"]);
  t.match(JSON.parse(renamed), { name: "gateway", description: "the public API" });
  t.match(JSON.parse(await person.data(["app", "rename", "gateway", "front", "--json"])), {
    name: "front",
    description: "the public API",
  });
});
