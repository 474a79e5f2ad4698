import t from "tap";
import { momentAfter, momentBefore } from "../../src/input/moment.ts";
import { folderVariables } from "../../src/run/folder-variables.ts";
import { referencesIn } from "../../src/run/references.ts";
import { fillTemplate, notationsIn } from "../../src/run/template.ts";

const uri = "coffer://production/database/field/password";

await t.test("the notations of a template are found with and without blanks around them, each once", (t) => {
  const template = `a={{${uri}}} b={{  ${uri}\t}} c={{ coffer://my folder/x/field/y }}`;
  t.same([...notationsIn(template)], [uri, "coffer://my folder/x/field/y"]);
  t.end();
});

await t.test("only placeholders are replaced, and a value is never read as a template or a pattern", (t) => {
  const template = `{{ other }} {{${uri}}} ${uri} {{ ${uri} }}\r\n`;
  const value = `$& $1 {{ ${uri} }}`;
  t.equal(fillTemplate(template, new Map([[uri, value]])), `{{ other }} ${value} ${uri} ${value}\r\n`);
  t.end();
});

await t.test("a wrong notation in a template is a usage error with its line", (t) => {
  t.throws(() => notationsIn("one\ntwo {{ coffer://x }}\n"), { exitCode: 2, message: /^line 2: not a notation/ });
  t.end();
});

await t.test("only variables whose whole value is a notation are references", (t) => {
  const found = referencesIn({ A: uri, B: `x${uri}`, C: "plain", D: undefined, E: "" });
  t.same([...found], [["A", uri]]);
  t.throws(() => referencesIn({ BROKEN: `${uri}/more` }), { exitCode: 2, message: /^BROKEN: not a notation/ });
  t.end();
});

const secret = (title: string, fields: Record<string, string>) => ({
  uid: "u",
  title,
  folder_id: "f",
  folder: "production",
  type: "login",
  name: title,
  fields,
  version: 1,
  key_version: 1,
  created_at: "",
  updated_at: "",
  expires_at: null,
  expired: false,
});

await t.test("every field of a folder becomes a variable that a shell can hold", (t) => {
  const variables = folderVariables([
    secret("database", { password: "p", "user name": "u" }),
    secret("2nd key.pem", { value: "v" }),
  ]);
  t.same(
    [...variables],
    [
      ["DATABASE_PASSWORD", "p"],
      ["DATABASE_USER_NAME", "u"],
      ["_2ND_KEY_PEM_VALUE", "v"],
    ],
  );
  t.end();
});

await t.test("two fields that would be one variable are a usage error", (t) => {
  t.throws(() => folderVariables([secret("a-b", { c: "1" }), secret("a", { b_c: "2" })]), {
    name: "Failure",
    exitCode: 2,
  });
  t.end();
});

await t.test("a time is a duration from now or a moment", (t) => {
  t.equal(momentAfter(0, "90m"), "1970-01-01T01:30:00.000Z");
  t.equal(momentAfter(0, "24h"), "1970-01-02T00:00:00.000Z");
  t.equal(momentAfter(0, "7d"), "1970-01-08T00:00:00.000Z");
  t.equal(momentAfter(0, "2030-01-31T12:00:00Z"), "2030-01-31T12:00:00.000Z");
  t.equal(momentAfter(0, "2030-01-31T12:00:00.123456Z"), "2030-01-31T12:00:00.123456Z");
  t.equal(momentAfter(0, "2030-01-31T12:00+02:00"), "2030-01-31T10:00:00.000Z");
  t.equal(momentAfter(0, "2030-01-31"), "2030-01-31T00:00:00.000Z");
  for (const wrong of ["", "7", "7w", "-1h", "soon", "2030-01-31T12:00:00", "2030-13-01", "2030-01-31T25:00Z"])
    t.throws(() => momentAfter(0, wrong), { name: "Failure", exitCode: 2 }, wrong);
  t.end();
});

await t.test("an age is a time before now", (t) => {
  const now = Date.parse("2026-11-20T10:00:00Z");
  t.equal(momentBefore(now, "90m"), "2026-11-20T08:30:00.000Z");
  t.equal(momentBefore(now, "7d"), "2026-11-13T10:00:00.000Z");
  t.equal(momentBefore(now, "2026-01-31"), "2026-01-31T00:00:00.000Z");
  t.throws(() => momentBefore(now, "yesterday"), { name: "Failure", exitCode: 2 });
  t.end();
});
