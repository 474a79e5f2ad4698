import type { PlaintextVector, VectorFile } from "./shapes.ts";

type Kind = PlaintextVector["kind"];

function read(name: string, kind: Kind, text: string, value: unknown): PlaintextVector {
  return { name, error: null, kind, bytes: Buffer.from(text).toString("hex"), value };
}

function refused(name: string, kind: Kind, content: string | Buffer): PlaintextVector {
  return { name, error: "invalid_plaintext", kind, bytes: Buffer.from(content).toString("hex"), value: null };
}

/** Plaintexts: payloads of secrets and records, titles and fields. */
export function plaintextVectors(): VectorFile<PlaintextVector> {
  const secret = { name: "database", notes: "ask Ada", fields: { username: "app", password: 's3"cret\n' } };
  return {
    about:
      "Plaintexts: a secret is {name, notes?, fields}, a record is flat, a title or field is the text itself; UTF-8",
    vectors: [
      read("a secret", "secret", JSON.stringify(secret), secret),
      read("a secret without notes and fields", "secret", '{"name":"","fields":{}}', { name: "", fields: {} }),
      read("a member of a later version is kept", "secret", '{"name":"a","fields":{},"tags":["b"]}', {
        name: "a",
        fields: {},
        tags: ["b"],
      }),
      read("white space outside the strings", "secret", ' { "name" : "a" , "fields" : { } } ', {
        name: "a",
        fields: {},
      }),
      read("a record", "record", '{"username":"ada","password":"é🔑"}', { username: "ada", password: "é🔑" }),
      read("an empty record", "record", "{}", {}),
      read("a title", "text", "Zugang für Jürgen 🔑", "Zugang für Jürgen 🔑"),
      read("an empty field", "text", "", ""),
      read("a field that begins with a byte order mark keeps it", "text", "\ufeffa", "\ufeffa"),
      refused("a secret that is no JSON", "secret", "s3cret"),
      refused("a secret without a name", "secret", '{"fields":{}}'),
      refused("a secret without fields", "secret", '{"name":"a"}'),
      refused("a secret whose field is a number", "secret", '{"name":"a","fields":{"port":5432}}'),
      refused("a secret whose fields are a list", "secret", '{"name":"a","fields":["b"]}'),
      refused("a secret whose notes are null", "secret", '{"name":"a","notes":null,"fields":{}}'),
      refused("a secret that is null", "secret", "null"),
      refused("a secret that is a list", "secret", "[]"),
      refused("a name with half of a surrogate pair", "secret", '{"name":"\\ud800","fields":{}}'),
      refused("notes with half of a surrogate pair", "secret", '{"name":"a","notes":"\\udc00","fields":{}}'),
      refused("a field with half of a surrogate pair", "secret", '{"name":"a","fields":{"b":"\\ud800"}}'),
      refused("a field's name with half of a surrogate pair", "secret", '{"name":"a","fields":{"\\ud800":"b"}}'),
      refused("a record with half of a surrogate pair", "record", '{"a":"\\udfff"}'),
      read("a surrogate pair as two escapes", "secret", '{"name":"\\ud83d\\udd11","fields":{}}', {
        name: "🔑",
        fields: {},
      }),
      refused("a record that is not flat", "record", '{"a":{"b":"c"}}'),
      refused("a record that is a list", "record", "[]"),
      refused("text that is not UTF-8", "text", Buffer.of(0xc3, 0x28)),
      refused("text with half of a surrogate pair", "text", Buffer.of(0xed, 0xa0, 0x80)),
    ],
  };
}
