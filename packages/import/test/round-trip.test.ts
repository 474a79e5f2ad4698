import t from "tap";
import { type ExportFormat, type PlainRecord, readImport, writeExport } from "../src/index.ts";
import { bytesOf, hardTexts, withIds } from "./records.ts";

/** The records after writing and reading in this format. */
async function back(format: ExportFormat, records: readonly PlainRecord[], forSpreadsheets = false) {
  const written = await writeExport(format, withIds(records), { forSpreadsheets });
  const read = await readImport(written.archive ?? bytesOf(written.text), { archived: true });
  if (read.format !== format) throw new Error(`${format} was taken for ${read.format}`);
  return { ...read, written };
}

const login: PlainRecord = {
  type: "login",
  payload: { name: "Example", username: "alice", password: "p", uri: "https://example.com", notes: "n" },
};

const all: PlainRecord[] = [
  login,
  {
    type: "login",
    payload: {
      name: "Everything",
      username: "bob",
      password: "pässword",
      uri: "https://a.example/x,y",
      uri_match: "exact",
      uri_2: "https://b.example",
      uri_3: "androidapp://com.example",
      uri_3_match: "somebody's own",
      totp_secret: "otpauth://totp/Example:bob?secret=JBSWY3DPEHPK3PXP&issuer=Example&period=60",
      notes: "first\nsecond",
      folder: "Work/Servers",
      favorite: "true",
      reprompt: "true",
      archived: "true",
      tags: "one\ntwo words",
      original_created_at: "2024-01-02T03:04:05.678Z",
      original_updated_at: "2024-02-02T03:04:05Z",
      expires_at: "2030-01-01T00:00:00Z",
      "custom.PIN": "1234",
      "custom_type.PIN": "hidden",
      "custom.PIN (2)": "5678",
      "custom.Title": "a name that KeePass gives a meaning",
      "custom_type.Title": "hidden",
      "custom.coffer.type": "card",
      "custom.": "no name",
      "custom.on": "true",
      "custom_type.on": "boolean",
      "custom.link": "password",
      "custom_type.link": "linked",
      "custom.empty": "",
      "custom_type.nothing": "hidden",
      host: "a field by name",
    },
  },
  { type: "secure_note", payload: { name: "Note", notes: "text", folder: "With%2Fslash/100%25" } },
  { type: "secure_note", payload: { name: "A note with a kind", kind: "Bank Account", "custom.IBAN": "DE00" } },
  { type: "login", payload: { name: "A login with nothing" } },
  { type: "login", payload: { name: "Bare secret", totp_secret: "JBSWY3DPEHPK3PXP" } },
  { type: "login", payload: { name: "Steam", totp_secret: "steam://JBSWY3DPEHPK3PXP" } },
  {
    type: "card",
    payload: {
      name: "Visa",
      cardholder_name: "A",
      brand: "Visa",
      number: "4111",
      exp_month: "3",
      exp_year: "2029",
      code: "9",
    },
  },
  {
    type: "identity",
    payload: {
      name: "Me",
      title: "Dr",
      first_name: "A",
      last_name: "B",
      username: "ab",
      "custom.u": "username",
      "custom_type.u": "linked",
    },
  },
  {
    type: "ssh_key",
    payload: { name: "Key", private_key: "-----BEGIN\nX: y\n-----END\n", public_key: "ssh-ed25519 A" },
  },
  {
    type: "passkey",
    payload: {
      name: "Passkey",
      credential_id: "AAECAwQFBgcICQoLDA0ODw",
      key_type: "public-key",
      key_algorithm: "ECDSA",
      key_curve: "P-256",
      private_key: "MIGHAgEAMBMGByqGSM49AgEG",
      rp_id: "example.com",
      user_handle: "dXNlcg",
      username: "alice",
      counter: "0",
      discoverable: "true",
    },
  },
  {
    type: "passkey",
    payload: { name: "With notes", credential_id: "AQ", rp_id: "a.example", notes: "n", "custom.x": "y", tags: "t" },
  },
  { type: "database", payload: { name: "DB", host: "db.example", port: "5432", username: "u", password: "p" } },
  { type: "weird_type", payload: { name: "Weird", __proto: "x", toString: "y", "custom.__proto__": "z" } },
  ...hardTexts.map((text, index) => ({
    type: "login",
    payload: { name: `${index} ${text}`, username: text, password: text, notes: text, "custom.hard": text },
  })),
];

for (const format of ["coffer-json", "bitwarden-json", "keepass-xml", "1pux"] as const)
  await t.test(`${format} holds every record`, async (t) => {
    for (const record of all) {
      const { records, leftOut, written } = await back(format, [record]);
      const name = record.payload["name"] ?? "";
      const whole = format === "1pux" ? withValues(record) : record;
      const expected = format === "coffer-json" || name !== "Note" ? [whole] : [withNestedFolder(format, whole)];
      t.strictSame(records, expected, name);
      t.strictSame(format === "bitwarden-json" && name === "Note" ? [] : [...written.leftOut, ...leftOut], [], name);
    }
    t.strictSame((await back(format, all)).records.length, all.length);
  });

/** 1Password's file omits a field without a value. */
function withValues({ type, payload }: PlainRecord): PlainRecord {
  return { type, payload: Object.fromEntries(Object.entries(payload).filter(([, value]) => value !== "")) };
}

/** Bitwarden nests by slashes, so a slash in a name is reported. */
function withNestedFolder(format: ExportFormat, { type, payload }: PlainRecord): PlainRecord {
  return { type, payload: { ...payload, ...(format === "bitwarden-json" ? { folder: "With/slash/100%25" } : {}) } };
}

await t.test("a table holds fields with a column, and reports the others", async (t) => {
  const { records, written } = await back("chrome-csv", all);
  const held = all
    .filter(({ type }) => type === "login")
    .map(({ type, payload }) => ({
      type,
      payload: Object.fromEntries(
        ["name", "username", "password", "uri", "notes"].flatMap((key) =>
          payload[key] === undefined ? [] : [[key, payload[key]]],
        ),
      ),
    }));
  t.strictSame(records, held);
  t.match(written.leftOut, [{ kind: "field", item: "Everything", reason: /totp_secret/ }]);
  t.ok(written.leftOut.some(({ kind, item, reason }) => kind === "item" && item === "Visa" && /card/.test(reason)));
});

await t.test("lastpass-csv holds logins and notes, and reports each field that is not read back", async (t) => {
  const lists = all.filter(({ type }) => type === "login" || type === "secure_note");
  for (const record of lists) {
    const { records, written } = await back("lastpass-csv", [record]);
    const [read, ...more] = records;
    t.strictSame(more, []);
    const reported = written.leftOut.map(({ reason }) => reason);
    for (const [field, value] of Object.entries(record.payload))
      if (value !== "" && read?.payload[field] !== value)
        t.ok(
          reported.some((reason) => reason.includes(field)),
          `${field} of ${record.payload["name"] ?? ""}`,
        );
    for (const field of ["name", "username", "password", "uri", "totp_secret", "favorite"])
      if (!reported.some((reason) => reason.startsWith(`"${field}"`)))
        t.equal(read?.payload[field], record.payload[field], `${field} of ${record.payload["name"] ?? ""}`);
  }
  const { records, written } = await back("lastpass-csv", [
    ...all,
    { type: "secure_note", payload: { name: "N", notes: "NoteType:Server\nHostname:h" } },
  ]);
  const everything = records.find(({ payload }) => payload["name"] === "Everything");
  t.match(everything, { payload: { folder: "Work/Servers", favorite: "true", notes: "first\nsecond" } });
  t.strictSame(
    records.find(({ payload }) => payload["name"] === "Example"),
    login,
  );
  for (const item of ["Visa", "Me", "Key", "Passkey", "DB"])
    t.ok(
      written.leftOut.some((each) => each.kind === "item" && each.item === item),
      item,
    );
  t.ok(written.leftOut.some(({ item, reason }) => item === "Everything" && /no place for tags/.test(reason)));
  t.ok(written.leftOut.some(({ item, reason }) => item === "N" && /its type/.test(reason)));
});

await t.test("bitwarden-csv holds logins and notes with their fields", async (t) => {
  const held = all
    .filter(({ type }) => type === "login" || type === "secure_note")
    .map(({ type, payload }) => ({
      type,
      payload: Object.fromEntries(
        Object.entries(payload).filter(
          ([key, value]) => key !== "custom." && !/[\r\n]/.test(key.includes(".") || key === "tags" ? value : ""),
        ),
      ),
    }));
  for (const record of held) {
    if (record.payload["name"] === "Note" || record.payload["name"] === "Everything") continue;
    t.strictSame((await back("bitwarden-csv", [record])).records, [record], record.payload["name"] ?? "");
  }
  const { written } = await back("bitwarden-csv", all);
  for (const item of ["Visa", "Me", "Key", "Passkey", "DB"])
    t.ok(
      written.leftOut.some((each) => each.kind === "item" && each.item === item),
      item,
    );
  t.ok(written.leftOut.some(({ item, reason }) => item === "Everything" && /hidden/.test(reason)));
});
