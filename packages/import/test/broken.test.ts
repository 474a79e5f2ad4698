import { deflateRawSync } from "node:zlib";
import t from "tap";
import { type ImportFormat, importFormats, readImport, writeExport } from "../src/index.ts";
import { stackEnded } from "../src/stack-ended.ts";
import { bytesOf, withIds } from "./records.ts";
import { organization, personal, table } from "./samples/bitwarden.ts";
import { keepassFile } from "./samples/keepass.ts";
import { exportData } from "./samples/onepassword.ts";
import { chrome, lastpass } from "./samples/tables.ts";
import { zipOf } from "./zip-of.ts";

const secret = "canary-in-a-broken-file";
const whole: Readonly<Record<ImportFormat, Uint8Array>> = {
  "bitwarden-json": bytesOf(JSON.stringify(personal)),
  "bitwarden-csv": bytesOf(table),
  "1pux": await zipOf({ "export.data": JSON.stringify(exportData) }),
  "keepass-xml": bytesOf(keepassFile),
  "chrome-csv": bytesOf(chrome),
  "lastpass-csv": bytesOf(lastpass),
  csv: bytesOf("Title,Username,Password\nShop,ada,canary\n"),
  "coffer-json": bytesOf('{"format":"coffer","version":1,"records":[]}'),
};

await t.test("each format is recognised, and is refused as any other one", async (t) => {
  for (const format of importFormats) {
    t.equal((await readImport(whole[format])).format, format);
    for (const other of importFormats)
      // Every table can be read as one; another program's table may look like any other.
      if (
        other !== format &&
        !(format.endsWith("csv") && other === "csv") &&
        !(format === "csv" && other.endsWith("csv"))
      )
        await t.rejects(
          readImport(whole[format], { format: other }),
          { code: "wrong_format", message: `this is no ${other}: it looks like ${format}` },
          `${format} as ${other}`,
        );
  }
});

await t.test("a named format is required, also if the file has another one", async (t) => {
  const others = {
    text: "just text",
    json: "[1,2]",
    xml: "<html></html>",
    table: "a,b\n1,2\n",
    empty: "",
    object: "{}",
  };
  for (const format of importFormats)
    for (const [name, text] of Object.entries(others))
      await t.rejects(readImport(bytesOf(text), { format }), { name: "ImportError" }, `${format}: ${name}`);
});

for (const [what, file, code, message] of [
  ["nothing", "", "unknown_format", /empty.*bitwarden-json/],
  ["text", `dear diary ${secret}`, "unknown_format", /no table/],
  ["a table without known headings", `${secret},b\n1,2\n`, "unknown_format", /none of its 2 headings is known/],
  ["another JSON", `{"a":"${secret}"}`, "unknown_format", /JSON/],
  ["a web page", `<!DOCTYPE html><p>${secret}</p>`, "unknown_format", /HTML/],
  ["JSON that is cut short", `{"encrypted":false,"items":[{"name":"${secret}`, "broken", /JSON/],
  ["a quotation mark that is not closed", `name,url,username,password\n"a,u,n,${secret}\n`, "broken", /line 2/],
  ["a quotation mark inside a cell", `name,url,username,password\na"b,u,n,${secret}\n`, "broken", /line 2/],
  ["XML that is cut short", keepassFile.slice(0, 1500), "broken", /line/],
  ["XML with an entity of its own", `<KeePassFile>&${secret};</KeePassFile>`, "broken", /line 1/],
  ["XML that is nested too deeply", `<KeePassFile>${"<Group>".repeat(100_000)}`, "broken", /deep|line/],
  ["groups of KeePass by the thousand", nested("<Group>", `<Name>${secret}</Name>`, "</Group>"), "broken", /deep/],
  ["values of JSON by the thousand", nested('{"a":', `"${secret}"`, "}"), "broken", /deep/],
  ["other XML under that name", "<KeePassFile><Meta/></KeePassFile>", "wrong_format", /Root/],
  ["a later version of ours", '{"format":"coffer","version":2,"records":[]}', "wrong_format", /newer/],
  ["bytes that are no text", new Uint8Array([0xff, 0x00, 0x80, 0x81]), "unknown_format", /neither/],
  ["a KeePass database", new Uint8Array([0x03, 0xd9, 0xa2, 0x9a, 0x67, 0xfb, 0x4b, 0xb5]), "encrypted", /XML/],
] as const)
  await t.test(`${what}: ${code}`, async (t) => {
    const error: unknown = await readImport(typeof file === "string" ? bytesOf(file) : file).catch(
      (each: unknown) => each,
    );
    t.match(error, { name: "ImportError", code, message });
    t.notMatch(String(error), new RegExp(secret), "the content is not quoted");
  });

const entities = Array.from({ length: 9 }, (_, i) => `<!ENTITY l${i + 1} "${`&l${i};`.repeat(10)}">`).join("");
for (const [what, doctype, text] of [
  ["that blow up", `<!DOCTYPE KeePassFile [<!ENTITY l0 "lol">${entities}]>`, "&l9;"],
  ["that read other files", '<!DOCTYPE KeePassFile [<!ENTITY x SYSTEM "file:///etc/passwd">]>', "&x;"],
  ["that request other servers", '<!DOCTYPE KeePassFile SYSTEM "http://127.0.0.1:9/x.dtd">', ""],
  ["none", "<!DOCTYPE KeePassFile>", ""],
] as const)
  await t.test(`XML with a document type and entities ${what} is refused`, async (t) => {
    const file = bytesOf(`<?xml version="1.0"?>${doctype}<KeePassFile>${text}</KeePassFile>`);
    await t.rejects(readImport(file), { code: "refused", message: /DOCTYPE/ });
  });

await t.test("an archive that is damaged or cut short", async (t) => {
  const archive = await zipOf({ "export.data": JSON.stringify(exportData), "files/x": secret });
  for (const cut of [30, 100, archive.length - 30, archive.length - 1])
    await t.rejects(readImport(archive.subarray(0, cut), { format: "1pux" }), { code: "broken" }, `${cut}`);
  const changed = archive.slice();
  changed[60] = (changed[60] ?? 0) ^ 1;
  await t.rejects(readImport(changed), { code: "broken" }, "its check sum is wrong");
  await t.rejects(readImport(await zipOf({ "other.txt": "x" })), { code: "unknown_format" });
  await t.rejects(readImport(await zipOf({ "x/export.data": "{}" })), { code: "wrong_format" });
});

await t.test("an archive that unpacks to more than 128 MiB, and one that lies about its size", async (t) => {
  const huge = deflateRawSync(Buffer.alloc(129 * 1024 * 1024, 0x20));
  t.ok(huge.length < 200_000, "a small file");
  await t.rejects(readImport(rawZip("export.data", huge, 129 * 1024 * 1024)), { code: "too_large" });
  await t.rejects(readImport(rawZip("export.data", huge, 100)), { code: /^(broken|too_large)$/ });
});

await t.test("a text of more than 128 MiB is too large, also when its format is not named", async (t) => {
  const text = new Uint8Array(128 * 1024 * 1024 + 1);
  const tooLarge = { code: "too_large", message: "the text is larger than 128 MiB" };
  await t.rejects(readImport(text), tooLarge);
  await t.rejects(readImport(text, { format: "chrome-csv" }), tooLarge);
});

await t.test("only a stack overflow counts as too deep a nesting", (t) => {
  t.plan(3);
  const endless = (): number => endless() + 1;
  try {
    endless();
  } catch (error) {
    t.ok(stackEnded(error));
  }
  try {
    "x".repeat(2 ** 30);
  } catch (error) {
    t.type(error, RangeError);
    t.notOk(stackEnded(error));
  }
});

await t.test("odd values in a file lose nothing else", async (t) => {
  const odd = {
    encrypted: false,
    folders: "none",
    items: [
      null,
      7,
      {},
      { type: 1 },
      { type: 1, name: 5, login: { uris: {}, username: { a: 1 }, password: 12 }, fields: [null, {}] },
    ],
  };
  const { records, leftOut } = await readImport(bytesOf(JSON.stringify(odd)));
  t.equal(leftOut.length, 2);
  t.match(records, [
    { type: "secure_note", payload: { name: "(no name)" } },
    { type: "login", payload: { name: "(no name)" } },
    { payload: { name: "5", username: '{"a":1}', password: "12", "custom.field": "" } },
  ]);
  const names = JSON.stringify({
    ...organization,
    items: [{ type: 2, name: "p", fields: [{ name: "__proto__", value: "x" }] }],
  });
  const {
    records: [proto],
  } = await readImport(bytesOf(names));
  t.equal(proto?.payload["custom.__proto__"], "x");
});

await t.test("names of built-in members are ordinary names", async (t) => {
  for (const name of ["constructor", "toString", "__proto__"]) {
    const note = `url,username,password,totp,extra,name,grouping,fav\nhttp://sn,,,,"NoteType:${name}\na:b",n,,0\n`;
    t.strictSame((await readImport(bytesOf(note))).records, [
      { type: "secure_note", payload: { name: "n", kind: name, "custom.a": "b" } },
    ]);
    const sections = [{ title: "", fields: [{ id: name, title: "t", value: { string: "v" } }] }];
    const item = { categoryUuid: name, overview: { title: "n" }, details: { notesPlain: "text", sections } };
    const file = { accounts: [{ vaults: [{ attrs: { name: "v" }, items: [item] }] }] };
    t.strictSame((await readImport(bytesOf(JSON.stringify(file)))).records, [
      {
        type: "secure_note",
        payload: { name: "n", kind: `1password ${name}`, notes: "text", "custom.t": "v", folder: "v" },
      },
    ]);
    const entry = `<Entry><String><Key>Title</Key><Value>n</Value></String><String><Key>${name}</Key><Value>v</Value></String></Entry>`;
    const database = `<KeePassFile><Root><Group>${entry}</Group></Root></KeePassFile>`;
    const { records } = await readImport(bytesOf(database));
    t.equal(JSON.stringify(records), `[{"type":"secure_note","payload":{"name":"n","custom.${name}":"v"}}]`);
    const { text } = await writeExport("keepass-xml", withIds(records));
    t.match(text, `<Key>${name}</Key>`, "it is written by its own name");
  }
});

/** A file with nested elements, few enough for the parser. */
function nested(open: string, inner: string, close: string): string {
  const depth = 5_000;
  const things = open.repeat(depth) + inner + close.repeat(depth);
  if (open.startsWith("<")) return `<KeePassFile><Root>${things}</Root></KeePassFile>`;
  return `{"encrypted":false,"items":[{"type":2,"name":"n","fields":[{"name":"f","value":${things}}]}]}`;
}

/** An archive with one packed file that claims to unpack to `size` bytes. */
function rawZip(name: string, packed: Uint8Array, size: number): Uint8Array {
  const header = (central: boolean): Buffer => {
    const head = Buffer.alloc(central ? 46 : 30);
    head.writeUInt32LE(central ? 0x02014b50 : 0x04034b50, 0);
    const at = central ? 2 : 0;
    if (central) head.writeUInt16LE(20, 4);
    head.writeUInt16LE(20, 4 + at);
    head.writeUInt16LE(8, 8 + at);
    head.writeUInt32LE(packed.length, 18 + at);
    head.writeUInt32LE(size, 22 + at);
    head.writeUInt16LE(name.length, 26 + at);
    return Buffer.concat([head, Buffer.from(name)]);
  };
  const [local, central] = [header(false), header(true)];
  const end = Buffer.alloc(22);
  end.writeUInt32LE(0x06054b50, 0);
  end.writeUInt16LE(1, 8);
  end.writeUInt16LE(1, 10);
  end.writeUInt32LE(central.length, 12);
  end.writeUInt32LE(local.length + packed.length, 16);
  return Buffer.concat([local, packed, central, end]);
}

await t.test("other content of our own file is reported", async (t) => {
  const record = { id: "1", type: "login", payload: { name: "a", password: "canary" }, more: "canary" };
  const odd = { type: "login", payload: { name: "b", password: 1 } };
  const file = { format: "coffer", version: 1, records: [record, odd], more: "canary" };
  const { records, leftOut } = await readImport(bytesOf(JSON.stringify(file)));
  t.strictSame(records, [{ type: "login", payload: { name: "a", password: "canary" } }]);
  t.strictSame(leftOut, [
    { kind: "field", item: "a", reason: '"more", which is not known' },
    { kind: "item", item: "item 2", reason: "it is no record: a `type` and a `payload` of texts were expected" },
    { kind: "field", item: null, reason: '"more", which is not known' },
  ]);
});
