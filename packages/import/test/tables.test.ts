import t from "tap";
import { readImport } from "../src/index.ts";
import type { PlainRecord } from "../src/index.ts";
import { bytesOf } from "./records.ts";
import { chrome, escapedLastpass, lastpass, oldChrome, unescapedLastpass } from "./samples/tables.ts";

await t.test("Chrome's table, with and without the note", async (t) => {
  const { format, records, leftOut } = await readImport(bytesOf(chrome));
  t.equal(format, "chrome-csv");
  t.strictSame(leftOut, []);
  t.strictSame(records, [
    {
      type: "login",
      payload: { name: "shop.example", username: "ada", password: 'pa"ss,word', uri: "https://shop.example/login" },
    },
    {
      type: "login",
      payload: {
        name: "noname.example",
        username: "bob",
        password: "=1+1",
        uri: "https://noname.example/",
        notes: "two\nlines",
      },
    },
    {
      type: "login",
      payload: { name: "app", username: "eve", password: "p", uri: "android://aGFzaA==@com.example.app/" },
    },
  ]);
  t.match(await readImport(bytesOf(oldChrome)), { format: "chrome-csv", records: [{ payload: { password: "p" } }] });
});

await t.test("LastPass: sites, notes and forms", async (t) => {
  const { format, records, leftOut, notes } = await readImport(bytesOf(lastpass));
  const one = (name: string): PlainRecord | undefined => records.find(({ payload }) => payload["name"] === name);
  t.equal(format, "lastpass-csv");
  t.strictSame(notes, []);
  t.strictSame(one("Shop"), {
    type: "login",
    payload: {
      name: "Shop",
      username: "ada",
      password: "canary-password",
      uri: "https://shop.example",
      notes: "two\nlines: of note",
      totp_secret: "JBSWY3DPEHPK3PXP",
      folder: "Work/Servers%2Feu",
      favorite: "true",
    },
  });
  t.strictSame(one("Note"), { type: "secure_note", payload: { name: "Note", notes: "plain note" } });
  t.strictSame(one("Card"), {
    type: "card",
    payload: {
      name: "Card",
      cardholder_name: "Ada",
      brand: "Visa",
      number: "4111111111111111",
      code: "123",
      exp_month: "3",
      exp_year: "2029",
      notes: "card notes\nsecond: line",
      folder: "Wallet",
    },
  });
  t.strictSame(one("Home"), {
    type: "identity",
    payload: {
      name: "Home",
      title: "mrs",
      first_name: "Ada",
      last_name: "L",
      username: "ada",
      "custom.Gender": "f",
      "custom.Birthday": "August,23,1990",
      company: "C",
      address_1: "1 Way",
      city: "York",
      postal_code: "YO1",
      country: "GB",
      "custom.Timezone": "+01:00,1",
      email: "a@b.c",
      phone: "441 ext. 11",
      "custom.Mobile Phone": "442",
    },
  });
  t.match(one("Key"), {
    type: "ssh_key",
    payload: {
      passphrase: "pp",
      private_key: "-----BEGIN RSA PRIVATE KEY-----\nProc-Type: 4,ENCRYPTED\n\nAAAA\n-----END RSA PRIVATE KEY-----",
      public_key: "ssh-rsa AAAA",
      notes: "n",
    },
  });
  t.match(one("DB"), {
    type: "database",
    payload: { database_type: "postgres", host: "db.example", port: "5432", username: "u", password: "p" },
  });
  t.strictSame(one("Bank"), {
    type: "secure_note",
    payload: {
      name: "Bank",
      kind: "Bank Account",
      "custom.Bank Name": "B",
      "custom.Account Number": "1",
      "custom_type.Account Number": "hidden",
      "custom.Pin": "9",
      "custom_type.Pin": "hidden",
    },
  });
  t.strictSame(leftOut, [{ kind: "setting", item: null, reason: 'the folder "Empty/Folder" has a row of its own' }]);
});

await t.test("values that are escaped as in HTML are read so where the whole file is", async (t) => {
  const escaped = await readImport(bytesOf(escapedLastpass));
  t.match(escaped.records, [{ payload: { uri: "https://a.example/?a=1&b=2", password: `p<q&amp;"'` } }]);
  t.match(escaped.notes, [/HTML/]);
  const plain = await readImport(bytesOf(unescapedLastpass));
  t.match(plain.records, [{ payload: { uri: "https://a.example/?a=1&b=2", password: "p&lt;q" } }]);
  t.strictSame(plain.notes, []);
});

await t.test("line breaks of every kind, byte order marks and UTF-16 are the same file", async (t) => {
  const { records } = await readImport(bytesOf(oldChrome));
  const rows = oldChrome.split("\r\n");
  for (const text of [rows.join("\n"), rows.join("\r"), rows.join("\r\r\n"), `\uFEFF${oldChrome}`, rows.join("\n\n")])
    t.strictSame((await readImport(bytesOf(text))).records, records);
  const utf16 = Buffer.from(`\uFEFF${oldChrome}`, "utf16le");
  t.strictSame((await readImport(utf16)).records, records);
});

await t.test("rows that do not fit the headings are left out, and strange columns are told", async (t) => {
  const text = "name,url,username,password,note,extra\na,u,n,p,,x\nb,u,n,canary,pass,,\nc,u\nd,u,n,p,,\n";
  const { records, leftOut } = await readImport(bytesOf(text), { format: "chrome-csv" });
  t.strictSame(
    records.map(({ payload }) => payload["name"]),
    ["a", "d"],
  );
  t.strictSame(leftOut, [
    { kind: "item", item: "line 3", reason: "the row has 7 cells under 6 headings" },
    { kind: "item", item: "line 4", reason: "the row has 2 cells under 6 headings" },
    { kind: "field", item: null, reason: 'the column "extra" is none of this format\'s' },
  ]);
});

await t.test("of two columns of one name none is taken for the one that is meant", async (t) => {
  const twice = "name,url,username,password,Password \nn,u,n,old,canary\n";
  await t.rejects(readImport(bytesOf(twice), { format: "chrome-csv" }), {
    code: "broken",
    message: /two columns "password"/,
  });
  const strange = "name,url,username,password,,\nn,u,n,p,,second\n";
  const { records, leftOut } = await readImport(bytesOf(strange));
  t.equal(records.length, 1);
  t.strictSame(leftOut, [{ kind: "field", item: null, reason: 'the column "" is none of this format\'s' }]);
});

await t.test("a table of which every row is left out, however many", async (t) => {
  const { records, leftOut } = await readImport(bytesOf(`name,url,username,password\n${"a,b\n".repeat(200_000)}`));
  t.strictSame([records.length, leftOut.length], [0, 200_000]);
});

await t.test("two values for one field are both kept", async (t) => {
  const form = '"NoteType:Server\nHostname:h\nUsername:root\nPassword:p\nNotes:"';
  const text = `url,username,password,totp,extra,name,grouping,fav\nhttp://sn,other,p,,${form},Box,,0\n`;
  const payload = { name: "Box", host: "h", username: "root", password: "p", "custom.username": "other" };
  t.strictSame((await readImport(bytesOf(text))).records, [{ type: "login", payload }]);
});
