import t from "tap";
import { readImport } from "../src/index.ts";
import { bytesOf, readSample } from "./records.ts";
import { exportAttributes, exportData } from "./samples/onepassword.ts";
import { zipOf } from "./zip-of.ts";

const archive = await zipOf({
  "export.attributes": JSON.stringify(exportAttributes),
  "export.data": JSON.stringify(exportData),
  "files/D___scan.pdf": "pdf",
});
const { format, records, leftOut, one } = await readSample(archive);
const common = {
  folder: "Private %2F mine",
  original_created_at: "2023-11-14T22:13:20.000Z",
  original_updated_at: "2023-11-14T22:15:00.000Z",
};

await t.test("a login with all fields", (t) => {
  t.equal(format, "1pux");
  t.strictSame(one("Shop"), {
    type: "login",
    payload: {
      name: "Shop",
      username: "ada",
      password: "canary-password",
      "custom.remember": "✓",
      "custom.pass2": "second",
      "custom_type.pass2": "hidden",
      uri: "https://shop.example",
      uri_2: "https://shop.example/login",
      uri_3: "https://shop.example/login",
      uri_3_label: "for staff",
      totp_secret: "otpauth://totp/Shop?secret=JBSWY3DPEHPK3PXP",
      "custom.Security: another": "GEZDGNBVGY3TQOJQ",
      "custom_type.Security: another": "hidden",
      "custom.Security: First pet": "Rex",
      "custom_type.Security: First pet": "hidden",
      "custom.Security: mail": "ada@example.com",
      "custom.Security: since": "2020-01-01",
      "custom.Security: s": '{"provider":"google"}',
      notes: "two\nlines",
      tags: "work\na/b",
      favorite: "true",
      ...common,
    },
  });
  t.end();
});

await t.test("kinds with a type of their own", (t) => {
  t.strictSame(one("Card"), {
    type: "card",
    payload: {
      name: "Card",
      cardholder_name: "Ada",
      brand: "visa",
      number: "4111111111111111",
      code: "123",
      exp_month: "3",
      exp_year: "2029",
      "custom.valid from": "2020-12",
      ...common,
    },
  });
  t.match(one("Identity"), {
    type: "identity",
    payload: {
      first_name: "Ada",
      last_name: "L",
      address_1: "1 Way",
      city: "York",
      postal_code: "YO1",
      country: "gb",
      phone: "+44 1",
    },
  });
  t.match(one("Password"), { type: "login", payload: { password: "canary-generated" } });
  t.match(one("Database"), {
    type: "database",
    payload: { database_type: "postgresql", host: "db.example", password: "p" },
  });
  t.match(one("Token"), { type: "api_credential", payload: { credential: "tok" } });
  t.match(one("Key"), {
    type: "ssh_key",
    payload: {
      private_key: "-----BEGIN OPENSSH PRIVATE KEY-----",
      public_key: "ssh-ed25519 A",
      fingerprint: "SHA256:x",
    },
  });
  t.end();
});

await t.test("other kinds are notes with their kind", (t) => {
  t.strictSame(one("Bank"), {
    type: "secure_note",
    payload: {
      name: "Bank",
      kind: "Bank Account",
      "custom.Branch: bank name": "B",
      "custom.Branch: PIN": "9",
      "custom_type.Branch: PIN": "hidden",
      ...common,
    },
  });
  t.match(one("Document with notes"), { type: "secure_note", payload: { kind: "Document", notes: "kept" } });
  t.end();
});

await t.test("values that are left out are reported, without the value", async (t) => {
  t.strictSame(leftOut, [
    { kind: "field", item: "Shop", reason: '"Security: see", a link to another item' },
    { kind: "attachment", item: "Shop", reason: 'the attached file "scan.pdf"' },
    { kind: "history", item: "Shop", reason: "earlier passwords: 1" },
    { kind: "attachment", item: "Document", reason: 'the file "deed.pdf"' },
    { kind: "item", item: "Document", reason: "it is a file and nothing else" },
    { kind: "attachment", item: "Document with notes", reason: 'the file "deed.pdf"' },
    { kind: "item", item: "Archived", reason: "it is archived" },
    { kind: "setting", item: null, reason: 'the vault "Nothing in it" holds nothing' },
  ]);
  t.notMatch(JSON.stringify(leftOut), /canary/);
  t.equal((await readImport(archive, { archived: true })).records.length, records.length + 1);
});

await t.test("export.data alone is read too", async (t) => {
  const alone = await readImport(bytesOf(JSON.stringify(exportData)));
  t.strictSame([alone.format, alone.records], ["1pux", records]);
});

await t.test("two accounts, a described vault, unknown members, and files without an item", async (t) => {
  const item = {
    categoryUuid: "001",
    newMember: { inner: "x" },
    overview: { title: "Shop", newOverview: "o", urls: ["https://shop.example"] },
    details: {
      newDetail: "d",
      sections: [
        {
          title: "",
          fields: [
            { id: "a", title: "home", value: { address: { street: "1 Way", district: "N" } }, newHint: "h" },
            { id: "b", title: "mail", value: { email: { email_address: "a@b.example", provider: "p" } } },
            { id: "c", title: "two", value: { string: "s", beside: "t" } },
          ],
        },
      ],
    },
  };
  const account = (accountName: string, items: unknown[], desc: string) => ({
    attrs: { accountName },
    vaults: [{ attrs: { name: "Private", desc }, items }],
  });
  const data = { accounts: [account("Ada", [item], ""), account("Bob", [item, "no item"], "canary")], more: "canary" };
  const read = await readImport(await zipOf({ "export.data": JSON.stringify(data), "files/D__scan.pdf": "pdf" }));
  const payload = {
    name: "Shop",
    uri: "https://shop.example",
    "custom.home: newHint": "h",
    "custom.home: district": "N",
    "custom.home: address_1": "1 Way",
    "custom.mail: provider": "p",
    "custom.mail": "a@b.example",
    "custom.two: beside": "t",
    "custom.two": "s",
    "custom.newMember": '{"inner":"x"}',
    "custom.newOverview": "o",
    "custom.newDetail": "d",
  };
  t.strictSame(read.records, [
    { type: "login", payload: { ...payload, folder: "Ada/Private" } },
    { type: "login", payload: { ...payload, folder: "Bob/Private" } },
  ]);
  t.strictSame(read.leftOut, [
    { kind: "setting", item: null, reason: 'the description of the vault "Private"' },
    { kind: "item", item: null, reason: 'entries of the vault "Private" that are no items: 1' },
    { kind: "field", item: null, reason: '"more", which is not known' },
    { kind: "attachment", item: null, reason: 'the file "files/D__scan.pdf", which no item names' },
  ]);
});
