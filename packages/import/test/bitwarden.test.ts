import t from "tap";
import { type ImportedFile, type PlainRecord, readImport, type ReadOptions, writeExport } from "../src/index.ts";
import { bytesOf, withIds } from "./records.ts";
import {
  encryptedForAccount,
  organization,
  organizationTable,
  passkey,
  personal,
  protectedByPassword,
  table,
} from "./samples/bitwarden.ts";
import { zipOf } from "./zip-of.ts";

const readJson = (file: unknown, options?: ReadOptions): Promise<ImportedFile> =>
  readImport(bytesOf(JSON.stringify(file, null, "  ")), options);
const times = { original_created_at: "2025-06-01T10:00:00.000Z", original_updated_at: "2025-06-02T10:00:00.000Z" };
const named = (records: readonly PlainRecord[], name: string): PlainRecord[] =>
  records.filter(({ payload }) => payload["name"] === name);

await t.test("a login with all fields, and its passkey as a record of its own", async (t) => {
  const { format, records } = await readJson(personal);
  t.equal(format, "bitwarden-json");
  const common = { folder: "Work/Servers", favorite: "true", ...times };
  t.strictSame(named(records, "Shop"), [
    {
      type: "login",
      payload: {
        name: "Shop",
        username: "ada@example.com",
        password: "canary-password",
        totp_secret: "otpauth://totp/Shop:ada?secret=JBSWY3DPEHPK3PXP&issuer=Shop",
        uri: "https://shop.example",
        uri_2: "https://shop.example/login",
        uri_2_match: "exact",
        uri_3: "androidapp://example.shop",
        uri_3_match: "domain",
        notes: "two\nlines",
        reprompt: "true",
        "custom.PIN": "0042",
        "custom_type.PIN": "hidden",
        "custom.PIN (2)": "0043",
        "custom.remember": "true",
        "custom_type.remember": "boolean",
        "custom.again": "password",
        "custom_type.again": "linked",
        "custom.field": "nameless",
        ...common,
      },
    },
    {
      type: "passkey",
      payload: {
        name: "Shop",
        credential_id: "AAECAwQFBgcICQoLDA0ODw",
        key_type: "public-key",
        key_algorithm: "ECDSA",
        key_curve: "P-256",
        private_key: passkey.keyValue,
        rp_id: "shop.example",
        user_handle: "dXNlci0x",
        username: "ada@example.com",
        counter: "0",
        rp_name: "Shop",
        user_display_name: "Ada",
        discoverable: "true",
        created: "2025-05-05T05:05:05.555Z",
        ...common,
      },
    },
  ]);
});

await t.test("notes, cards, identities, SSH keys, passkeys alone, and kinds that came later", async (t) => {
  const { records } = await readJson(personal);
  const one = (name: string): PlainRecord | undefined => named(records, name)[0];
  t.strictSame(one("Note"), { type: "secure_note", payload: { name: "Note", notes: "text", ...times } });
  t.match(one("Card"), {
    type: "card",
    payload: { cardholder_name: "Ada", brand: "Visa", exp_month: "3", code: "123" },
  });
  t.match(one("Identity"), {
    type: "identity",
    payload: { title: "Dr", first_name: "Ada", postal_code: "YO1", ssn: "SSN" },
  });
  t.match(one("Key"), { type: "ssh_key", payload: { private_key: "PRIVATE", fingerprint: "SHA256:x" } });
  t.equal(
    named(records, "Only a passkey")
      .map(({ type }) => type)
      .join(),
    "passkey",
  );
  t.match(one("A kind that came later"), {
    type: "secure_note",
    payload: { kind: "bankAccount", "custom.bankName": "Bank", "custom.iban": "DE00" },
  });
});

await t.test("values that are left out are reported, without the value", async (t) => {
  const { leftOut, records } = await readJson(personal);
  t.strictSame(leftOut, [
    { kind: "history", item: "Shop", reason: "earlier passwords: 2" },
    { kind: "item", item: "Archived", reason: "it is archived" },
    { kind: "item", item: "Deleted", reason: "it is in the bin" },
    { kind: "attachment", item: "With a file", reason: 'the attached file "scan.pdf"' },
    { kind: "setting", item: null, reason: 'the folder "Empty" holds nothing' },
  ]);
  t.notMatch(JSON.stringify(leftOut), /canary/);
  t.equal(records.length, 9);
  const more = await readJson(personal, { archived: true, deleted: true });
  t.equal(more.records.length, 11);
  t.match(named(more.records, "Archived"), [{ payload: { archived: "true" } }]);
});

await t.test("an organization's items have their collections", async (t) => {
  const { records } = await readJson(organization);
  const payload = {
    name: "Shared",
    username: "team",
    password: "p",
    folder: "Team",
    collections: "Team\nTeam/Ops",
    ...times,
  };
  t.strictSame(records, [{ type: "login", payload }]);
});

await t.test("the archive with attachments names them", async (t) => {
  const data = bytesOf(JSON.stringify(organization));
  const { format, records, leftOut } = await readImport(
    await zipOf({ "data.json": data, "attachments/6d0c/scan.pdf": bytesOf("%PDF") }),
  );
  t.strictSame([format, records.length], ["bitwarden-json", 1]);
  t.match(leftOut, [{ kind: "attachment", reason: /scan\.pdf/ }]);
});

await t.test("a byte order mark before it is ignored", async (t) => {
  const marked = await readImport(bytesOf(`\uFEFF${JSON.stringify(personal)}`));
  t.strictSame(marked.records, (await readJson(personal)).records);
});

await t.test("encrypted exports are refused with advice", async (t) => {
  await t.rejects(readJson(encryptedForAccount), { code: "encrypted", message: /for its Bitwarden account/ });
  await t.rejects(readJson(protectedByPassword), { code: "encrypted", message: /password/ });
});

await t.test("the table: fields by lines, several addresses in one cell", async (t) => {
  const { format, records, leftOut } = await readImport(bytesOf(`\uFEFF${table}`));
  t.equal(format, "bitwarden-csv");
  t.strictSame(leftOut, []);
  t.strictSame(records, [
    {
      type: "login",
      payload: {
        name: "Shop",
        username: "ada",
        password: 'pass"word, =1',
        totp_secret: "JBSWY3DPEHPK3PXP",
        uri: "https://shop.example",
        uri_2: "shop.example",
        uri_3: "https://x.example/a,b",
        notes: "two\nlines",
        "custom.PIN": "0042",
        "custom.site": "https://x.example: 8\ngoes on",
        folder: "Work",
        favorite: "true",
        reprompt: "true",
      },
    },
    { type: "secure_note", payload: { name: "Note", notes: "text" } },
  ]);
});

await t.test("the table's fields end where their lines do, whichever kind of break a program wrote", async (t) => {
  for (const end of ["\n", "\r\n"]) {
    const fields = ["PIN: 1", "Key: a: b", "goes on", "", "Last: 2"].join(end);
    const { records } = await readImport(
      bytesOf(`type,name,fields,login_username,login_password\r\nlogin,Shop,"${fields}",ada,p\r\n`),
    );
    const payload = { name: "Shop", username: "ada", password: "p" };
    const read = { "custom.PIN": "1", "custom.Key": `a: b${end}goes on${end}`, "custom.Last": "2" };
    t.strictSame(records, [{ type: "login", payload: { ...payload, ...read } }]);
  }
});

await t.test("the table of an organization", async (t) => {
  const { records } = await readImport(bytesOf(organizationTable));
  const payload = { name: "Shared", username: "team", password: "p", folder: "Team", collections: "Team\nTeam/Ops" };
  t.strictSame(records, [{ type: "login", payload }]);
});

await t.test("a value that the table's readers take for empty is reported, and not written", async (t) => {
  const payload = { name: "Shop", username: "ada", "custom.state": "undefined", "custom.other": "null" };
  const { text, leftOut } = await writeExport("bitwarden-csv", withIds([{ type: "login", payload }]));
  t.match(leftOut, [{ kind: "field", item: "Shop", reason: /"state": "undefined" is what the format says/ }]);
  const { records, leftOut: more } = await readImport(bytesOf(text));
  const { "custom.state": _state, ...rest } = payload;
  t.strictSame([records, more], [[{ type: "login", payload: rest }], []]);
});

await t.test("a comma in a cell of addresses parts them where an address begins", async (t) => {
  const cells: [string, string[]][] = [
    ["https://a.example/x,y.z,10.0.0.1,10.0.0.2:8080/x", ["https://a.example/x,y.z", "10.0.0.1", "10.0.0.2:8080/x"]],
    [
      "https://a.example/@1.5,localhosts,localhost,^http://b",
      ["https://a.example/@1.5,localhosts", "localhost", "^http://b"],
    ],
    ["a.example,b.example:8443,c", ["a.example", "b.example:8443,c"]],
  ];
  for (const [cell, uris] of cells) {
    const { records } = await readImport(bytesOf(`name,login_uri,login_username,login_password\nA,"${cell}",,\n`));
    const read = Object.entries(records[0]?.payload ?? {}).filter(([key]) => key.startsWith("uri"));
    t.strictSame(
      read.map(([, uri]) => uri),
      uris,
    );
  }
});

await t.test(
  "a record for which Bitwarden would refuse the file becomes a note with fields, and is read back unchanged",
  async (t) => {
    const key = { name: "Key", private_key: "PRIVATE", public_key: "ssh-ed25519 AAAA", fingerprint: "SHA256:x" };
    const { keyValue, credentialId: _id, ...rest } = passkey;
    const whole = {
      ...{ name: "Passkey", credential_id: "AAECAwQFBgcICQoLDA0ODw", private_key: keyValue, rp_id: rest.rpId },
      ...{ key_type: rest.keyType, key_algorithm: rest.keyAlgorithm, key_curve: rest.keyCurve, counter: "0" },
    };
    const without = (payload: Record<string, string>, field: string): Record<string, string> =>
      Object.fromEntries(Object.entries(payload).filter(([each]) => each !== field));
    const lacking = (type: string, payload: Record<string, string>): PlainRecord[] =>
      Object.keys(without(payload, "name")).map((field) => ({ type, payload: without(payload, field) }));
    const records = [
      { type: "ssh_key", payload: key },
      { type: "passkey", payload: whole },
      ...lacking("ssh_key", key),
      ...lacking("passkey", whole),
      { type: "ssh_key", payload: { ...key, fingerprint: " " } },
      { type: "passkey", payload: { name: "Nothing in it" } },
    ];
    const { text, leftOut } = await writeExport("bitwarden-json", withIds(records));
    const { items } = JSON.parse(text) as { items: { type: number }[] };
    t.strictSame(
      items.map(({ type }) => type),
      [5, 1, ...records.slice(2).map(() => 2)],
    );
    t.strictSame(leftOut, []);
    t.strictSame((await readImport(bytesOf(text))).records, records);
  },
);

await t.test("an item without a kind has the kind of its member", async (t) => {
  const items = [
    {
      name: "a",
      login: { username: "ada", password: "canary", uris: [{ uri: "https://a.example" }], totp: "JBSWY3DP" },
    },
    { name: "b", card: { number: "4111", code: "123" } },
    { name: "c", identity: { firstName: "Ada" } },
    { name: "d", sshKey: { privateKey: "PRIVATE" } },
    { name: "e", secureNote: { type: 0 }, notes: "text" },
    { name: "f", notes: "text" },
    { name: "g", type: "1", login: { username: "ada" } },
    { name: "h", type: null, login: { uri: "https://h.example", uris: null } },
  ];
  const { records, leftOut } = await readJson({ encrypted: false, folders: [], items });
  t.strictSame(leftOut, []);
  t.strictSame(records, [
    {
      type: "login",
      payload: { name: "a", username: "ada", password: "canary", totp_secret: "JBSWY3DP", uri: "https://a.example" },
    },
    { type: "card", payload: { name: "b", number: "4111", code: "123" } },
    { type: "identity", payload: { name: "c", first_name: "Ada" } },
    { type: "ssh_key", payload: { name: "d", private_key: "PRIVATE" } },
    { type: "secure_note", payload: { name: "e", notes: "text" } },
    { type: "secure_note", payload: { name: "f", notes: "text" } },
    { type: "login", payload: { name: "g", username: "ada" } },
    { type: "login", payload: { name: "h", uri: "https://h.example" } },
  ]);
});

await t.test("unknown members of an item become custom fields", async (t) => {
  const item = {
    type: 1,
    name: "n",
    folderId: "nowhere",
    collectionIds: ["nowhere"],
    login: { username: "ada", uris: [{ uri: "a.example", match: null, newRule: 1 }, "b.example"], newPart: ["x"] },
    card: { number: "4111" },
    fields: [{ name: "PIN", value: "1", type: 1, linkedId: null, newHint: "digits" }],
    newMember: { inner: "y" },
    score: 5,
  };
  const { records, leftOut } = await readJson({ encrypted: false, items: [item], sends: [{ text: "canary" }] });
  t.strictSame(records, [
    {
      type: "login",
      payload: {
        name: "n",
        username: "ada",
        uri: "a.example",
        uri_2: "b.example",
        "custom.uri newRule": "1",
        "custom.newPart": '["x"]',
        "custom.PIN": "1",
        "custom_type.PIN": "hidden",
        "custom.PIN newHint": "digits",
        "custom.card: number": "4111",
        "custom.newMember: inner": "y",
        "custom.score": "5",
      },
    },
  ]);
  t.strictSame(leftOut, [
    { kind: "field", item: "n", reason: "its folder, which the file does not name" },
    { kind: "field", item: "n", reason: "collections that the file does not name: 1" },
    { kind: "field", item: null, reason: '"sends", which is not known' },
  ]);
});
