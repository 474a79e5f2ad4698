import { readFileSync } from "node:fs";
import t from "tap";
import { readImport } from "../src/index.ts";

const exported = readFileSync(new URL("files/lastpass-cli-1.3.7.csv", import.meta.url));

await t.test("an export of LastPass's command line is read completely", async (t) => {
  const { format, records, leftOut, notes } = await readImport(exported);
  t.equal(format, "lastpass-csv");
  t.strictSame(records, [
    {
      type: "secure_note",
      payload: {
        name: "Post",
        kind: "Email Account",
        "custom.Server": "s",
        "custom.Port": "1",
        "custom.Type": "IMAP",
        "custom.SMTP Server": "t",
        "custom.SMTP Port": "2",
        "custom.Username": "ada",
        "custom.Password": "ep",
        "custom_type.Password": "hidden",
      },
    },
    {
      type: "card",
      payload: {
        name: "Visa",
        cardholder_name: "Ada",
        number: "4000",
        code: "012",
        exp_month: "3",
        exp_year: "2029",
        brand: "VISA",
      },
    },
    {
      type: "secure_note",
      payload: {
        name: "Bank",
        kind: "Bank Account",
        "custom.Bank Name": "Acme",
        "custom.Account Type": "checking",
        "custom.Routing Number": "1",
        "custom.Account Number": "0002",
        "custom_type.Account Number": "hidden",
        "custom.SWIFT Code": "ACME",
        "custom.IBAN Number": "GB00",
        "custom_type.IBAN Number": "hidden",
        "custom.Pin": "0009",
        "custom_type.Pin": "hidden",
        "custom.Branch Address": "1 Way",
        "custom.Branch Phone": "5",
        notes: "bank notes",
      },
    },
    {
      type: "database",
      payload: {
        name: "DB",
        database_type: "postgres",
        host: "db.example",
        port: "5432",
        database: "app",
        "custom.SID": "s",
        "custom.Alias": "a",
        username: "u",
        password: "p",
        notes: "db notes",
      },
    },
    {
      type: "card",
      payload: {
        name: "Karte",
        cardholder_name: "Ada Łovelace",
        brand: "Visa",
        number: "4111111111111111",
        code: "012",
        "custom.Start Date": "January,2020",
        exp_month: "3",
        exp_year: "2029",
        notes: "card notes\nsecond: line",
        folder: "Wallet",
      },
    },
    {
      type: "ssh_key",
      payload: {
        name: "Schlüssel",
        "custom.Bit Strength": "2048",
        "custom.Format": "PEM",
        passphrase: "pp",
        private_key:
          "-----BEGIN RSA PRIVATE KEY-----\nProc-Type: 4,ENCRYPTED\n\nbWFkZSB1cA==\n-----END RSA PRIVATE KEY-----",
        public_key: "ssh-rsa bWFkZSB1cA== ada",
        "custom.Hostname": "h.example",
        "custom.Date": "2020",
        notes: "of the server",
      },
    },
    {
      type: "login",
      payload: {
        name: "Server",
        host: "srv.example",
        username: "root",
        password: "sp",
        notes: "server notes",
      },
    },
    {
      type: "secure_note",
      payload: {
        name: "WLAN",
        kind: "Wi-Fi Password",
        "custom.SSID": "home",
        "custom.Connection Type": "x",
        "custom.Connection Mode": "y",
        "custom.Authentication": "WPA",
        "custom.Encryption": "AES",
        "custom.Use 802.1X": "no",
        "custom.FIPS Mode": "no",
        "custom.Key Type": "k",
        "custom.Protected": "yes",
        "custom.Key Index": "1",
        "custom.Password": "wifi-pw",
        "custom_type.Password": "hidden",
        notes: "wifi notes",
      },
    },
    {
      type: "secure_note",
      payload: {
        name: "Pass",
        kind: "Passport",
        "custom.Type": "t",
        "custom.Name": "Ada Ł",
        "custom.Country": "GB",
        "custom.Number": "P1",
        "custom.Sex": "F",
        "custom.Nationality": "GBR",
        "custom.Issuing Authority": "HMPO",
        "custom.Date of Birth": "August,23,1990",
        "custom.Issued Date": "May,1,2020",
        notes: "n",
      },
    },
    {
      type: "login",
      payload: {
        name: "AT&T",
        username: "a&b",
        password: "x&amp;y",
        uri: "https://att.example",
      },
    },
    {
      type: "secure_note",
      payload: {
        name: "メモ",
        notes: 'nur eine Notiz,\n"zweite" Zeile\r\nWindows\n',
        folder: "日本",
      },
    },
    {
      type: "login",
      payload: {
        name: " spaced ",
        username: " u ",
        password: "'apostrophe\ttab",
      },
    },
    {
      type: "login",
      payload: {
        name: "Router",
        username: "bob",
        password: "=1+1",
        uri: "http://192.168.0.1",
      },
    },
    {
      type: "login",
      payload: {
        name: "Läden & Söhne 🗝",
        username: "ada@example.com",
        password: 'made-up <pass>, "word" ñ',
        uri: "https://shop.example/login?a=1&b=2",
        notes: 'first line\nsecond line\n\n  fourth, "indented"',
        folder: "Arbeit/Server & Röhren",
        favorite: "true",
      },
    },
  ]);
  t.strictSame([leftOut, notes], [[], []]);
});
