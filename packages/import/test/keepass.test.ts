import t from "tap";
import { type PlainRecord, readImport } from "../src/index.ts";
import { bytesOf, readSample } from "./records.ts";
import { database, entry, group, keepassFile } from "./samples/keepass.ts";

const { format, leftOut, one } = await readSample(bytesOf(`\uFEFF${keepassFile}`));
const common = {
  tags: "one\ntwo words",
  original_created_at: "2024-01-02T03:04:05Z",
  original_updated_at: "2024-02-03T04:05:06Z",
};

await t.test("an entry with all fields", (t) => {
  t.equal(format, "keepass-xml");
  t.strictSame(one("Shop & Co"), {
    type: "login",
    payload: {
      name: "Shop & Co",
      username: "ada",
      password: "canary-<password>",
      uri: "https://shop.example",
      uri_2: "https://b.example",
      uri_3: "androidapp://c",
      notes: "two\nlines",
      "custom.PIN": "0042",
      "custom_type.PIN": "hidden",
      "custom.plain": "p",
      totp_secret: "otpauth://totp/Shop:ada?secret=JBSWY3DPEHPK3PXP&period=30&digits=6&issuer=Shop",
      tags: common.tags,
      expires_at: "2030-01-01T00:00:00Z",
      original_created_at: common.original_created_at,
      original_updated_at: common.original_updated_at,
    },
  });
  t.end();
});

await t.test("groups are folders, the outermost one is none; an entry with notes alone is a note", (t) => {
  const payload = { name: "Note", notes: "text", folder: "Work %2F ops/Sub", ...common };
  t.strictSame(one("Note"), { type: "secure_note", payload });
  t.end();
});

await t.test("secrets of one-time codes, as each program stores them", (t) => {
  const secretOf = (name: string): string | undefined => one(name)?.payload["totp_secret"];
  t.equal(secretOf("KeePass"), "otpauth://totp/?secret=JBSWY3DPEHPK3PXP&period=60&digits=8&algorithm=SHA256");
  t.equal(secretOf("Hex"), "JBSWY3DPEHPK3PXP");
  t.equal(secretOf("Tray"), "JBSWY3DPEHPK3PXP");
  t.equal(secretOf("Steam"), "otpauth://totp/?secret=JBSWY3DPEHPK3PXP&period=30&digits=5&algorithm=SHA1&encoder=steam");
  t.equal(secretOf("KeeOtp"), "otpauth://totp/?secret=JBSWY3DPEHPK3PXP&period=30&digits=8&algorithm=SHA1");
  for (const name of ["KeePass", "Hex", "Tray", "Steam", "KeeOtp"])
    t.notMatch(Object.keys(one(name)?.payload ?? {}).join(" "), /custom/, name);
  t.end();
});

await t.test("a value that refers to another entry becomes the referenced value", (t) => {
  t.match(one("Refers"), { payload: { username: "ada", password: "canary-<password>", uri: "see {REF:A@T:Shop}" } });
  t.end();
});

/** The implicit fields of a KeePassXC passkey with a P-256 key. */
const ofP256 = {
  key_type: "public-key",
  key_algorithm: "ECDSA",
  key_curve: "P-256",
  counter: "0",
  discoverable: "true",
};

await t.test("a passkey of KeePassXC", (t) => {
  t.strictSame(one("Passkey"), {
    type: "passkey",
    payload: {
      name: "Passkey",
      username: "ada",
      uri: "https://shop.example",
      folder: "Work %2F ops/Sub",
      ...common,
      credential_id: "AQID",
      rp_id: "shop.example",
      user_handle: "dQ",
      private_key: "MIGHAgEAMBMGByqGSM49AgEGCCqGSM49AwEH",
      ...ofP256,
    },
  });
  t.end();
});

await t.test(
  "a passkey under the names of Strongbox and older KeePassXC, and what there is of a broken one",
  async (t) => {
    const read = async (values: Record<string, string>): Promise<PlainRecord[]> => {
      const file = database(group("AA==", "r", entry("AQ==", { Title: "x", ...values })));
      const { records: found } = await readImport(bytesOf(file));
      return found.map(({ type, payload }) => {
        const { tags: _, original_created_at: __, original_updated_at: ___, ...rest } = payload;
        return { type, payload: rest };
      });
    };
    const key = "-----BEGIN PRIVATE KEY-----MIGHAgEAMBMGByqGSM49AgEGCCqGSM49AwEH-----END PRIVATE KEY-----";
    const parts = { name: "x", private_key: "MIGHAgEAMBMGByqGSM49AgEGCCqGSM49AwEH", rp_id: "a.example", ...ofP256 };
    const common = { "!KPEX_PASSKEY_PRIVATE_KEY_PEM": key, KPEX_PASSKEY_RELYING_PARTY: "a.example" };
    t.strictSame(await read({ ...common, KPEX_PASSKEY_GENERATED_USER_ID: "AQID", KPXC_PASSKEY_USERNAME: "ada" }), [
      { type: "passkey", payload: { ...parts, credential_id: "AQID", username: "ada" } },
    ]);
    t.strictSame(await read({ ...common, Password: "p", KPEX_PASSKEY_FLAG_BE: "1" }), [
      { type: "login", payload: { name: "x", password: "p" } },
      { type: "passkey", payload: { ...parts, "custom.KPEX_PASSKEY_FLAG_BE": "1" } },
    ]);
    t.strictSame(await read({ ...common, "coffer.counter": "5", "coffer:type": "passkey" }), [
      { type: "passkey", payload: { ...parts, counter: "5" } },
    ]);
    const ed25519 = "-----BEGIN PRIVATE KEY-----MC4CAQAwBQYDK2VwBCIE-----END PRIVATE KEY-----";
    for (const [pem, privateKey] of [
      [ed25519, "MC4CAQAwBQYDK2VwBCIE"],
      ["no key", "no key"],
    ] as const)
      t.strictSame(await read({ "!KPEX_PASSKEY_PRIVATE_KEY_PEM": pem }), [
        { type: "passkey", payload: { name: "x", private_key: privateKey } },
      ]);
    t.strictSame(await read({ KPEX_PASSKEY_OTHER: "canary" }), [
      {
        type: "secure_note",
        payload: {
          name: "x",
          "custom.KPEX_PASSKEY_OTHER": "canary",
          "custom_type.KPEX_PASSKEY_OTHER": "hidden",
        },
      },
    ]);
  },
);

await t.test("values that are left out are reported, without the value", async (t) => {
  t.strictSame(leftOut, [
    { kind: "history", item: "Shop & Co", reason: "earlier versions: 2" },
    { kind: "attachment", item: "Shop & Co", reason: 'the attached file "scan.pdf"' },
    { kind: "field", item: "Refers", reason: '"URL" refers to another entry, and is imported unchanged' },
    { kind: "setting", item: "Types", reason: "its auto-type" },
    { kind: "field", item: "Types", reason: 'the data of a plug-in under "plugin"' },
    { kind: "item", item: "Deleted", reason: "it is in the recycle bin" },
  ]);
  t.notMatch(JSON.stringify(leftOut), /canary/);
  const more = await readImport(bytesOf(keepassFile), { deleted: true });
  t.match(more.records.at(-1), { payload: { name: "Deleted", folder: "Recycle Bin/In it" } });
});

await t.test("the inside of a database, whose values are encrypted, is refused", async (t) => {
  const inner = database(group("AA==", "r", entry("AQ==", { Title: "x", "!Password": "c3RyZWFt" })));
  const file = bytesOf(inner.replace('ProtectInMemory="True"', 'Protected="True"'));
  await t.rejects(readImport(file), { code: "encrypted", message: /export it as XML/ });
});

await t.test("of several roots and databases in one file every entry is read", async (t) => {
  const one = (name: string): string => entry("AQ==", { Title: name, "!Password": "p" });
  const first = database(group("AA==", "Private", ""));
  for (const [file, folders] of [
    [first.replace("</KeePassFile>", `<Root>${group("AA==", "Work", one("a"))}</Root></KeePassFile>`), ["Work"]],
    [
      database(group("AA==", "Private", one("a")) + group("AA==", "Work", group("AA==", "Ops", one("b")))),
      ["Private", "Work/Ops"],
    ],
    [database(group("AA==", "Private", one("a")) + one("b")), [undefined, undefined]],
    [database(one("a")), [undefined]],
  ] as const) {
    const { records: found } = await readImport(bytesOf(file));
    t.strictSame(found.map(({ payload }) => payload["folder"]).sort(), [...folders].sort());
    t.strictSame(found.map(({ payload }) => payload["name"]).sort(), ["a", "b"].slice(0, folders.length));
  }
  const { leftOut: reported } = await readImport(
    bytesOf(first.replace("</KeePassFile>", `<Root>${one("a")}</Root></KeePassFile>`)),
  );
  t.strictSame(reported, [{ kind: "setting", item: null, reason: 'the group "" holds nothing' }]);
});

await t.test("a second string of one name, settings of no known form, and elements that are not known", async (t) => {
  const strings = entry("AQ==", {
    Title: "x",
    PIN: "1",
    "TOTP Seed": "JBSWY3DP",
    "TOTP Settings": "soon",
    "TimeOtp-Length": "8",
  });
  const second = "<String><Key>PIN</Key><Value>2</Value></String>";
  const odd = "<Colour>red</Colour>";
  const file = database(group("AA==", "r", strings.replace("</Entry>", `${second}${odd}</Entry>`)))
    .replace("<Notes />", "<Notes>canary</Notes><Tags>canary</Tags>")
    .replace("</DatabaseName>", "</DatabaseName><DatabaseDescription>canary</DatabaseDescription>")
    .replace("</KeePassFile>", "<More>canary</More></KeePassFile>");
  const { records: found, leftOut: reported } = await readImport(bytesOf(file));
  t.match(found, [
    {
      type: "login",
      payload: {
        ...{ name: "x", "custom.PIN": "1", "custom.PIN (2)": "2", totp_secret: "JBSWY3DP" },
        ...{ "custom.TOTP Settings": "soon", "custom.TimeOtp-Length": "8" },
      },
    },
  ]);
  t.strictSame(reported, [
    { kind: "setting", item: null, reason: 'the notes of the group ""' },
    { kind: "setting", item: null, reason: 'the element Tags of the group ""' },
    { kind: "field", item: "x", reason: "the element Colour, which is not known" },
    { kind: "setting", item: null, reason: "the description of the database" },
    { kind: "setting", item: null, reason: "the element More, which is not known" },
  ]);
});
