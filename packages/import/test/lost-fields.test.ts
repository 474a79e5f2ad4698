import t from "tap";
import { type ExportFormat, type PlainRecord, readImport, writeExport } from "../src/index.ts";
import { lostFields } from "../src/lost-fields.ts";
import { bytesOf, hardTexts, withIds } from "./records.ts";

const formats = ["bitwarden-json", "keepass-xml"] as const;

/** One record after writing and reading, and the report about it. */
async function back(format: ExportFormat, record: PlainRecord) {
  const { text, leftOut } = await writeExport(format, withIds([record]));
  const { records } = await readImport(bytesOf(text), { format });
  return { records, reported: leftOut.map(({ kind, item, reason }) => `${kind} of ${item ?? ""}: ${reason}`) };
}

const login = (fields: Record<string, string>): PlainRecord => ({ type: "login", payload: { name: "n", ...fields } });

for (const record of [
  login({ type: "wpa" }),
  login({ type: "WPA 2" }),
  login({ type: "login", record_type: "card", "custom.coffer:type": "card", "custom_type.coffer:type": "hidden" }),
  { type: "secure_note", payload: { name: "n", type: "identity" } },
  { type: "passkey", payload: { name: "n", type: "usb" } },
  login({ favorite: "yes", reprompt: "1" }),
  login({ tags: " one ", username: "u" }),
  { type: "passkey", payload: { name: "n", private_key: "MIGHAgEAMBMGByqGSM49AgEGCCqGSM49AwEH", rp_id: "a.example" } },
  { type: "passkey", payload: { name: "n", rp_name: "without what KeePass knows" } },
] satisfies PlainRecord[])
  for (const format of formats)
    await t.test(`${format} holds ${record.type} with ${JSON.stringify(record.payload)}`, async (t) => {
      t.strictSame(await back(format, record), { records: [record], reported: [] });
    });

for (const [fields, reason, formatsOf] of [
  [{ folder: "a//b" }, "its folder's name has an empty part or a bare %", formats],
  [{ folder: "100%" }, "its folder's name has an empty part or a bare %", formats],
  [{ folder: "a/".repeat(2_000) + "b" }, "its folder is nested too deeply", ["keepass-xml"]],
  [{ folder: "a%2Fb" }, "a slash in its folder's name nests", ["bitwarden-json"]],
  [{ uri: "https://a", uri_7: "https://b" }, '"uri_7" does not come back as it is', formats],
  [{ uri: "https://a", uri_2: "https://a" }, '"uri_2" does not come back as it is', formats],
  [{ notes: "bell \u0007" }, 'XML cannot hold a character in "notes"', ["keepass-xml"]],
  [{ expires_at: "\u0001" }, 'XML cannot hold a character in "expires_at"', ["keepass-xml"]],
  [{ original_created_at: "\ud800" }, 'XML cannot hold a character in "original_created_at"', ["keepass-xml"]],
  [{ original_updated_at: "\uffff" }, 'XML cannot hold a character in "original_updated_at"', ["keepass-xml"]],
] as const)
  for (const format of formatsOf)
    await t.test(`${format} reports the change of ${JSON.stringify(fields).slice(0, 40)}`, async (t) => {
      t.ok((await back(format, login(fields))).reported.includes(`field of n: ${reason}`));
    });

await t.test("KeePass gets valid times; others are stored as fields", async (t) => {
  const times = (text: string): string => /<Times>.*<\/Times>/.exec(text)?.[0] ?? "";
  const good = login({ original_created_at: "2024-01-02T03:04:05.678Z", expires_at: "2030-01-01T00:00:00+01:00" });
  const { text } = await writeExport("keepass-xml", withIds([good]));
  t.equal(
    times(text),
    "<Times><CreationTime>2024-01-02T03:04:05.678Z</CreationTime>" +
      "<ExpiryTime>2030-01-01T00:00:00+01:00</ExpiryTime><Expires>True</Expires></Times>",
  );
  const odd = ["never", "2030-01-01", "2030-99-01T00:00:00Z", "2030-01-01T00:00:00", " 2030-01-01T00:00:00Z"];
  for (const expires_at of odd) {
    const record = login({ expires_at, original_created_at: "yesterday", original_updated_at: "1700000000" });
    t.strictSame(await back("keepass-xml", record), { records: [record], reported: [] });
    const written = await writeExport("keepass-xml", withIds([record]));
    t.equal(times(written.text), "<Times><Expires>False</Expires></Times>");
  }
});

await t.test("a record that cannot be read back is reported and left out of the file", (t) => {
  const records = withIds([
    login({ name: "a" }),
    login({ name: "bad" }),
    login({ name: "worse" }),
    login({ name: "b" }),
  ]);
  const { held, leftOut } = lostFields(records, {
    write: ([record]) => {
      if (record?.payload["name"] === "worse") throw new TypeError("cannot be written");
      return JSON.stringify(record);
    },
    read(bytes) {
      const record = JSON.parse(new TextDecoder().decode(bytes)) as PlainRecord;
      if (record.payload["name"] === "bad") throw new RangeError("cannot be read");
      return [record];
    },
    why: () => undefined,
  });
  t.strictSame(
    held.map(({ payload }) => payload["name"]),
    ["a", "b"],
  );
  const reason = "it does not come back";
  t.strictSame(leftOut, [
    { kind: "item", item: "bad", reason },
    { kind: "item", item: "worse", reason },
  ]);
  t.end();
});

await t.test(
  "a value that looks like a reference comes back unchanged, and KeePass's reading is reported",
  async (t) => {
    const [bank] = withIds([login({ name: "bank", password: "canary-of-the-bank" })]);
    const hex = (bank?.id ?? "").replaceAll("-", "").toUpperCase();
    const values = { notes: `{REF:P@I:${hex}}`, username: "see {ref:U@T:bank}", folder: "{REF:P@I:1}", tags: "{REF:x" };
    const [mine] = withIds([login({ name: "mine", ...values, "custom.x": "{REFER}" })]);
    const { text, leftOut } = await writeExport("keepass-xml", [mine, bank] as NonNullable<typeof bank>[]);
    const { records, leftOut: leftOutBack } = await readImport(bytesOf(text));
    t.strictSame(
      records.find(({ payload }) => payload["name"] === "mine"),
      { type: "login", payload: mine?.payload },
    );
    const reason = (field: string): string =>
      `"${field}" looks like a reference: KeePass shows the value of another entry instead`;
    t.strictSame(leftOut, [
      { kind: "field", item: "mine", reason: reason("notes") },
      { kind: "field", item: "mine", reason: reason("username") },
    ]);
    t.strictSame(leftOutBack, [], "and is not reported again when it is read back");
    // KeePassXC still names the maker of a database that began as our file.
    for (const [ours, theirs] of [
      ["<Generator>Coffer<", "<Generator>KeePass<"],
      ["<RecycleBinEnabled>", "<DatabaseName>Coffer</DatabaseName><RecycleBinEnabled>"],
    ] as const) {
      t.match(text, ours);
      const resolved = await readImport(bytesOf(text.replace(ours, theirs)));
      t.match(
        resolved.records.find(({ payload }) => payload["name"] === "mine"),
        { payload: { notes: "canary-of-the-bank" } },
        "another program's references are followed",
      );
    }
  },
);

await t.test("a table reports values without a column", async (t) => {
  const { records, reported } = await back("bitwarden-csv", login({ type: "wpa", favorite: "yes", folder: "a//b" }));
  t.strictSame(records, [login({ type: "wpa", favorite: "yes", folder: "a/b" })]);
  t.strictSame(reported, ["field of n: its folder's name has an empty part or a bare %"]);
  const uris = await back("bitwarden-csv", login({ uri: "https://a.example", uri_7: "https://b.example" }));
  t.strictSame(uris.reported, ["field of n: the numbers of its addresses"]);
});

await t.test("files of before, in which coffer.type is the record's type, are read correctly", async (t) => {
  const item = (fields: object[]) =>
    bytesOf(JSON.stringify({ encrypted: false, folders: [], items: [{ type: 2, name: "n", fields }] }));
  const before = await readImport(item([{ name: "coffer.type", value: "database", type: 0 }]));
  t.strictSame(before.records, [{ type: "database", payload: { name: "n" } }]);
  for (const fields of [
    [
      { name: "coffer:type", value: "database", type: 0 },
      { name: "coffer.type", value: "postgres", type: 0 },
    ],
    [
      { name: "coffer.type", value: "postgres", type: 0 },
      { name: "coffer:type", value: "database", type: 0 },
    ],
  ]) {
    const { records } = await readImport(item(fields));
    t.strictSame(records, [{ type: "database", payload: { name: "n", type: "postgres" } }]);
  }
});

await t.test("each of hundreds of odd records comes back, or its loss is reported", async (t) => {
  const keys = [
    ...["username", "password", "uri", "uri_2", "uri_4", "uri_match", "uri_2_match", "notes", "totp_secret", "folder"],
    ...["favorite", "reprompt", "archived", "tags", "collections", "kind", "expires_at", "original_created_at", "type"],
    ...["credential_id", "private_key", "rp_id", "user_handle", "number", "title", "constructor", "__proto__", ""],
    ...["custom.", "custom.a", "custom.a (2)", "custom_type.a", "custom_type.b", "custom.Title", "custom.otp"],
    ...["custom.coffer.type", "custom.coffer:type", "coffer.name", "custom.KPEX_PASSKEY_X", "custom.__proto__"],
  ];
  const values = [
    ...["true", "hidden", "linked", "login", "username", "JBSWY3DP", "otpauth://totp/x?secret=ABC&period=60"],
    ...["2020-01-01T00:00:00Z", "b64.AA", "a//b", "100%", "{REF:P@I:00000000000000000000000000000000}", ...hardTexts],
  ];
  const types = ["login", "secure_note", "card", "identity", "ssh_key", "passkey", "database", "weird"];
  let seed = 7;
  const any = <T>(of: readonly T[]): T => {
    seed = (seed * 1_103_515_245 + 12_345) & 0x7fffffff;
    return of[(seed >> 8) % of.length] as T; // the index is inside
  };
  const sorted = ({ type, payload }: PlainRecord): unknown => [type, Object.entries(payload).sort()];
  for (let count = 0; count < 400; count++) {
    const fields = Array.from({ length: any([1, 2, 3, 4, 5, 6]) }, () => [any(keys), any(values)] as const);
    const record = {
      type: any(types),
      payload: Object.fromEntries([["name", "n"], ...fields]) as Record<string, string>,
    };
    for (const format of formats) {
      const { records, reported } = await back(format, record);
      const same = JSON.stringify(records.map(sorted)) === JSON.stringify([sorted(record)]);
      const lost = reported.filter((reason) => !reason.includes("looks like a reference"));
      if (same === lost.length > 0)
        t.fail(`${format}: ${JSON.stringify(record)} is ${JSON.stringify({ records, reported })}`);
    }
  }
});
