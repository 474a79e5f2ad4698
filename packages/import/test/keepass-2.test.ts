import { readFileSync } from "node:fs";
import t from "tap";
import { readImport } from "../src/index.ts";

const exported = readFileSync(new URL("files/keepass-2.47.xml", import.meta.url));
const times = { original_created_at: "2021-03-04T05:06:07Z", original_updated_at: "2022-04-05T06:07:08Z" };
const shop = {
  username: "ada@example.com",
  password: 'made-up <pass> "word" ñ ]]>',
  uri: "https://shop.example/login?a=1&b=2",
};

await t.test("an export of KeePass is read completely", async (t) => {
  const { format, records, notes } = await readImport(exported);
  t.strictSame([format, notes], ["keepass-xml", []]);
  t.strictSame(
    records.map(({ type }) => type),
    ["login", "login", "login", "login", "login", "secure_note", "login", "login"],
  );
  t.strictSame(
    records.map(({ payload }) => payload),
    [
      {
        ...shop,
        name: "Läden & Söhne 🗝",
        uri_2: "https://b.shop.example",
        uri_3: "https://c.shop.example",
        uri_4: "https://d.shop.example",
        notes: "first line\nsecond line\n\n  fourth, indented",
        "custom.Customer number": "K-17",
        "custom.PIN": "0042",
        "custom_type.PIN": "hidden",
        "custom.empty": "",
        "custom.OverrideURL": "cmd://firefox {URL}",
        totp_secret: "otpauth://totp/?secret=JBSWY3DPEHPK3PXP&period=60&digits=8&algorithm=SHA256",
        tags: "first\nzwei Wörter",
        expires_at: "2031-05-06T07:08:09Z",
        ...times,
      },
      { name: "nobody", username: "nobody", ...times },
      { name: "otp", password: "p", totp_secret: "JBSWY3DPEHPK3PXP", ...times },
      {
        name: "tray",
        password: "p",
        totp_secret: "otpauth://totp/?secret=JBSWY3DPEHPK3PXP&period=30&digits=5&algorithm=SHA1&encoder=steam",
        ...times,
      },
      {
        name: "Router",
        username: "robert",
        password: "pw-two",
        uri: "http://192.168.0.1",
        folder: "Zuhause",
        ...times,
      },
      { name: "メモ", notes: "nur eine Notiz\nzweite Zeile\ttab ", folder: "Zuhause/日本", ...times },
      {
        ...shop,
        name: "Same as the shop",
        notes: "see {REF:T@I:CEB47EFA7610A943BE0F368885EE92D9}",
        "custom.mail": "{REF:U@T:Router}",
        folder: "Büro %2F 100%25",
        ...times,
      },
      {
        name: " spaced ",
        username: " u ",
        password: " p ",
        totp_secret: "NVQWIZJAOVYA",
        "custom.HmacOtp-Secret-Base32": "JBSWY3DPEHPK3PXP",
        "custom_type.HmacOtp-Secret-Base32": "hidden",
        "custom.HmacOtp-Counter": "7",
        // KeePass itself drops control characters.
        "custom.control": "abcd",
        folder: "Büro %2F 100%25",
        ...times,
      },
    ],
  );
});

await t.test("and the rest is reported", async (t) => {
  const expected = [
    { kind: "setting", item: "Läden & Söhne 🗝", reason: "its auto-type" },
    { kind: "field", item: "Läden & Söhne 🗝", reason: 'the data of a plug-in under "plugin"' },
    { kind: "history", item: "Router", reason: "earlier versions: 2" },
    { kind: "attachment", item: "Router", reason: 'the attached file "läuft.bin"' },
    { kind: "attachment", item: "Router", reason: 'the attached file "scan.txt"' },
    { kind: "setting", item: null, reason: 'the notes of the group "Büro %2F 100%25"' },
    {
      kind: "field",
      item: "Same as the shop",
      reason: '"mail" refers to another entry, and is imported unchanged',
    },
    {
      kind: "field",
      item: "Same as the shop",
      reason: '"Notes" refers to another entry, and is imported unchanged',
    },
    { kind: "setting", item: null, reason: 'the group "Leer" holds nothing' },
  ];
  const { leftOut } = await readImport(exported);
  t.strictSame(leftOut, [...expected, { kind: "item", item: "Weg", reason: "it is in the recycle bin" }]);
  const withBin = await readImport(exported, { deleted: true });
  t.strictSame(withBin.leftOut, expected);
  const gone = { name: "Weg", username: "old", password: "gone", folder: "Recycle Bin", ...times };
  t.strictSame(withBin.records.at(-1), { type: "login", payload: gone });
});
