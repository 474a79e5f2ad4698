import assert from "node:assert/strict";
import { hostileText } from "@coffer/testkit/hostile-text";
import fc from "fast-check";
import t from "tap";
import { joinUris, splitUris } from "../src/bitwarden/csv-uris.ts";
import { joinFolder, splitFolder } from "../src/folder-path.ts";
import { exportFormats, ImportError, importFormats, type PlainRecord, readImport, writeExport } from "../src/index.ts";
import { type OtpSettings, parseOtpauth, totpSecret } from "../src/otpauth.ts";
import { credentialIdFor, credentialIdFrom, keyFromPem, keyToPem } from "../src/passkey-key.ts";
import { bytesOf, withIds } from "./records.ts";

const fields = [
  ...["username", "password", "uri", "uri_2", "uri_match", "totp_secret", "notes", "folder", "favorite", "tags"],
  ...["type", "kind", "archived", "expires_at", "number", "exp_month", "private_key", "credential_id", "rp_id"],
  ...["custom.x", "custom_type.x", "custom.", "custom.Title", "custom.coffer:type", "custom.TimeOtp-Period"],
];
const types = ["login", "secure_note", "card", "identity", "ssh_key", "passkey", "database"];
const key = fc.oneof(
  { weight: 4, arbitrary: fc.constantFrom(...fields) },
  hostileText.filter((text) => text !== "name"),
);
const record: fc.Arbitrary<PlainRecord> = fc
  .tuple(fc.constantFrom(...types), hostileText, fc.dictionary(key, hostileText, { maxKeys: 4, noNullPrototype: true }))
  .map(([type, name, payload]) => ({ type, payload: { ...payload, name: `${name}n` } }));
const contentOf = ({ type, payload }: PlainRecord): unknown => [
  type,
  Object.entries(payload)
    .filter(([, value]) => value !== "")
    .sort(([a], [b]) => (a < b ? -1 : 1)),
];

for (const format of exportFormats)
  await t.test(`${format}: a record comes back whole, or what does not is reported`, async (t) => {
    const property = fc.asyncProperty(record, fc.boolean(), async (one, forSpreadsheets) => {
      const { text, archive, leftOut } = await writeExport(format, withIds([one]), { forSpreadsheets });
      if (leftOut.some(({ kind }) => kind === "item")) return;
      const read = await readImport(archive ?? bytesOf(text), { format, archived: true });
      assert.equal(read.records.length, 1);
      if (leftOut.length + read.leftOut.length === 0) assert.deepEqual(read.records.map(contentOf), [contentOf(one)]);
    });
    await fc.assert(property, { numRuns: format === "1pux" ? 20 : 100 });
    t.pass();
  });

/** Parts of the formats, so that a text of them gets beyond the first check of a reader. */
const parts = [
  ...["name,url,username,password,note\n", "url,username,password,totp,extra,name,grouping,fav\n", "sep=;\n"],
  ...["folder,favorite,type,name,notes,fields,reprompt,login_uri,login_username,login_password,login_totp\r\n"],
  ...[
    '{"encrypted":false,"folders":[],"items":[',
    '{"accounts":[{"vaults":[{"items":[',
    '{"format":"coffer","version":1,',
  ],
  ...['"items":', '"records":[', '"fields":', '"login":', '"name":"x"', "null", "1", "]}", "{", "[", "],", "},"],
  ...["<KeePassFile><Root><Group>", "<Entry><String><Key>otp</Key><Value>", "</Value></String></Entry>"],
  ...["</Group></Root></KeePassFile>", "<?xml version='1.0'?>", "<!DOCTYPE x>", "<![CDATA[", "&#0;", "PK\x03\x04"],
];
const file = fc
  .array(fc.oneof(hostileText, fc.constantFrom(...parts)), { maxLength: 10 })
  .map((texts) => bytesOf(texts.join("")));
const bytes = fc
  .tuple(
    fc.constantFrom([], [0x50, 0x4b, 3, 4], [0xff, 0xfe], [0xfe, 0xff], [3, 0xd9, 0xa2, 0x9a]),
    fc.uint8Array({ maxLength: 60 }),
  )
  .map(([start, rest]) => Uint8Array.from([...start, ...rest]));
const named = fc.option(fc.constantFrom(...importFormats), { nil: undefined });

async function readOrRefuse(content: Uint8Array, format?: (typeof importFormats)[number]): Promise<void> {
  try {
    await readImport(content, { format });
  } catch (error) {
    if (!(error instanceof ImportError)) throw error;
  }
}

await t.test("any file is read or refused with an error of this package", async (t) => {
  await fc.assert(fc.asyncProperty(fc.oneof(file, bytes), named, readOrRefuse), { numRuns: 600 });
  t.pass();
});

const members = [
  ...["encrypted", "folders", "items", "accounts", "vaults", "attrs", "login", "card", "identity", "sshKey", "name"],
  ...["notes", "fields", "uris", "uri", "match", "type", "folderId", "id", "fido2Credentials", "passwordHistory"],
  ...["overview", "details", "sections", "title", "urls", "url", "loginFields", "value", "tags", "payload", "totp"],
  ...["concealed", "state", "categoryUuid", "linkedId", "designation", "creationDate", "createdAt"],
];
const { value } = fc.letrec<{ value: unknown }>((tie) => ({
  value: fc.oneof(
    { maxDepth: 4 },
    fc.oneof(hostileText, fc.constantFrom(null, true, false, 0, 1, 2, 3, 4, -1, 1e99)),
    fc.array(tie("value"), { maxLength: 3 }),
    fc.dictionary(fc.constantFrom(...members), tie("value"), { maxKeys: 6 }),
  ),
}));

await t.test("JSON with any value in any place is read or refused with an error of this package", async (t) => {
  const property = fc.asyncProperty(value, value, async (one, two) => {
    const items = [one, two, { type: 1, login: one, fields: [two] }, { type: 3, card: two, name: one }];
    const data = { accounts: [{ vaults: [{ attrs: one, items: [two, { overview: one, details: two }] }, one] }, two] };
    await readOrRefuse(bytesOf(JSON.stringify({ encrypted: false, folders: [one], items })), "bitwarden-json");
    await readOrRefuse(bytesOf(JSON.stringify({ format: "coffer", version: 1, records: [one, two] })), "coffer-json");
    await readOrRefuse(bytesOf(JSON.stringify(data)), "1pux");
  });
  await fc.assert(property, { numRuns: 300 });
  t.pass();
});

await t.test("the time of a file is in proportion to its length, also when it repeats one part", async (t) => {
  for (const part of [...parts, '"', ",", "&", "<a>", "\n", '"\n', ": ", "{REF:"]) {
    const start = process.cpuUsage();
    for (const before of ["", parts[0] ?? "", parts[1] ?? "", parts[4] ?? "", parts[15] ?? ""])
      await readOrRefuse(bytesOf(before + part.repeat(50_000 / part.length)));
    assert.ok(process.cpuUsage(start).user < 3_000_000, part);
  }
  t.pass();
});

await t.test("what one file of a format needs to be in one text reads back", (t) => {
  const uri = fc.oneof(hostileText, fc.webUrl(), fc.domain()).filter((text) => text !== "");
  const settings: fc.Arbitrary<OtpSettings> = fc.record({
    secret: hostileText.map((text) => `${text.replace(/\s/g, "")}A`),
    period: fc.nat().map(String),
    digits: fc.nat().map(String),
    algorithm: fc.constantFrom("SHA1", "SHA256", "SHA512"),
    encoder: fc.option(hostileText, { nil: undefined }),
  });
  const properties = [
    fc.property(fc.array(hostileText), (names) => {
      assert.deepEqual(
        splitFolder(joinFolder(names)),
        names.filter((name) => name !== ""),
      );
    }),
    fc.property(fc.array(uri, { maxLength: 4 }), (uris) => assert.deepEqual(splitUris(joinUris(uris)), uris)),
    fc.property(settings, (otp) => {
      const text = totpSecret(otp);
      if (text !== otp.secret) assert.deepEqual({ ...parseOtpauth(text) }, { ...otp });
    }),
    fc.property(hostileText, (text) => void parseOtpauth(`otpauth://totp/${text}`)),
    fc.property(fc.uint8Array({ minLength: 1 }), (each) => {
      const text = Buffer.from(each).toString("base64url");
      assert.equal(keyFromPem(keyToPem(text)), text);
      assert.equal(credentialIdFrom(credentialIdFor(text)), text);
    }),
  ];
  for (const property of properties) fc.assert(property as fc.IProperty<unknown>, { numRuns: 200 });
  t.pass();
  t.end();
});
