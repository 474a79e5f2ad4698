import { readFileSync } from "node:fs";
import t from "tap";
import { readImport } from "../src/index.ts";
import { readSample } from "./records.ts";

const exported = readFileSync(new URL("files/keepassxc-2.7.4.xml", import.meta.url));
const made = { original_created_at: "2026-11-22T16:26:44Z", original_updated_at: "2026-11-22T16:26:44Z" };

await t.test("an export of KeePassXC is read completely", async (t) => {
  const { format, records, notes } = await readSample(exported);
  t.equal(format, "keepass-xml");
  t.strictSame(notes, []);
  t.strictSame(records, [
    {
      type: "login",
      payload: {
        name: "Läden & Söhne 🗝",
        username: "ada@example.com",
        password: 'made-up <pass> "word" ñ',
        uri: "https://shop.example/login",
        uri_2: "https://b.shop.example",
        uri_3: "https://c.shop.example",
        notes: "first line\nsecond line\n\n  fourth, indented",
        "custom.Customer number": "K-17",
        "custom.PIN": "0042",
        "custom_type.PIN": "hidden",
        totp_secret: "otpauth://totp/Shop:ada?secret=JBSWY3DPEHPK3PXP&period=30&digits=6&issuer=Shop",
        tags: "first\nzwei Wörter",
        expires_at: "2031-05-06T07:08:09Z",
        original_created_at: "2021-03-04T05:06:07Z",
        original_updated_at: "2022-04-05T06:07:08Z",
      },
    },
    {
      type: "login",
      payload: {
        name: "Router",
        username: "robert",
        password: "pw-two",
        uri: "https://router.example",
        folder: "Zuhause",
        ...made,
      },
    },
    {
      type: "secure_note",
      payload: { name: "メモ", notes: "nur eine Notiz\nzweite Zeile", folder: "Zuhause/日本", ...made },
    },
  ]);
});

await t.test("and the rest is reported", async (t) => {
  const expected = [
    { kind: "setting", item: null, reason: 'the group "Arbeit %2F Büro 100%25" holds nothing' },
    { kind: "setting", item: null, reason: 'the group "Leer" holds nothing' },
    { kind: "history", item: "Router", reason: "earlier versions: 3" },
    { kind: "attachment", item: "Router", reason: 'the attached file "scan.txt"' },
  ];
  const { leftOut } = await readImport(exported);
  t.strictSame(leftOut, [...expected, { kind: "item", item: "Weg", reason: "it is in the recycle bin" }]);
  const withBin = await readImport(exported, { deleted: true });
  t.strictSame(withBin.leftOut, expected);
  t.match(withBin.records.at(-1), { payload: { name: "Weg", password: "gone", folder: "Recycle Bin" } });
});

await t.test("a time that is neither of both forms stays as it is written", async (t) => {
  const text = exported.toString();
  for (const odd of ["yesterday", "/////////38=", "v2HS1w4AAAB="]) {
    const { records } = await readImport(Buffer.from(text.replace("v2HS1w4AAAA=", odd)));
    t.equal(records[0]?.payload["original_created_at"], odd);
  }
});
