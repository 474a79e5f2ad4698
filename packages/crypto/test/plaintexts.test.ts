import t from "tap";
import {
  decodeRecord,
  decodeSecret,
  decodeText,
  encodeRecord,
  encodeSecret,
  encodeText,
  type RecordPayload,
  type SecretPayload,
} from "../src/index.ts";

void t.test("a secret and a record come back as they were", (t) => {
  const fields = Object.fromEntries([
    ["password", 's3"cret\n🔑'],
    ["", "empty name"],
    ["__proto__", "a name like others"],
  ]);
  const secret: SecretPayload = { name: "database", notes: "", fields };
  const opened = decodeSecret(encodeSecret(secret));
  t.strictSame(Object.entries(opened.fields), Object.entries(fields));
  t.strictSame([opened.name, opened.notes], ["database", ""]);
  t.strictSame(Object.entries(decodeRecord(encodeRecord(fields))), Object.entries(fields));
  t.equal(decodeText(encodeText("\ufeffé🔑")), "\ufeffé🔑");
  t.end();
});

void t.test("a value that could not be read again is not written", (t) => {
  const wrong = [
    null,
    [],
    {},
    { name: 1, fields: {} },
    { name: "a", fields: { b: 1 } },
    { name: "a", notes: 1, fields: {} },
    { name: "\ud83d", fields: {} },
    { name: "a", notes: "\udd11", fields: {} },
    { name: "a", fields: { b: "\ud83d" } },
    { name: "a", fields: { "\ud83d": "b" } },
  ];
  // Callers without types can pass anything.
  for (const value of wrong) t.throws(() => encodeSecret(value as unknown as SecretPayload), { code: "invalid_input" });
  for (const value of [null, [], { a: null }, { a: {} }, { a: "\ud83d" }]) {
    t.throws(() => encodeRecord(value as unknown as RecordPayload), { code: "invalid_input" });
  }
  t.throws(() => encodeText("half of a pair: \ud83d"), { code: "invalid_input" });
  t.end();
});
