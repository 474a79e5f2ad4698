import { readFileSync } from "node:fs";
import t from "tap";
import { type PlainRecord, readImport } from "../src/index.ts";

const file = (ending: string): Uint8Array =>
  readFileSync(new URL(`files/bitwarden-cli-2026.9.0${ending}`, import.meta.url));
const made = (created: string, updated = created): Record<string, string> => ({
  original_created_at: `2026-11-22T${created}Z`,
  original_updated_at: `2026-11-22T${updated}Z`,
});
const note = (payload: Record<string, string>): PlainRecord => ({ type: "secure_note", payload });
const login = (payload: Record<string, string>): PlainRecord => ({ type: "login", payload });

/** The fields of the fullest login that both formats hold. */
const shop = {
  name: "Läden & Söhne 🗝",
  username: "ada@example.com",
  password: 'made-up <pass>, "word" ñ',
  totp_secret: "otpauth://totp/Shop:ada?secret=JBSWY3DPEHPK3PXP&period=30&digits=6&issuer=Shop",
  uri: "https://shop.example/login",
  uri_2: "https://a.shop.example",
  uri_3: "https://b.shop.example",
  uri_4: "https://c.shop.example/x",
  uri_5: "https://d.shop.example/?a=1,2",
  uri_6: "^https://e\\.shop\\.example/.*$",
  uri_7: "androidapp://example.shop",
  notes: 'first line\nsecond line\n\n  fourth, "indented"',
  "custom.Customer number": "K-17",
  "custom.PIN": "0042",
  "custom.PIN (2)": "0043",
  "custom.remember": "true",
  "custom.forget": "false",
  "custom.empty": "",
  "custom.field": "nameless",
  folder: "Arbeit/Server & Röhren",
  favorite: "true",
  reprompt: "true",
};
const router = {
  name: "Router",
  username: "bob",
  password: "=1+1",
  totp_secret: "steam://JBSWY3DPEHPK3PXP",
  uri: "192.168.0.1",
  uri_2: "http://[fe80::1]/",
  uri_3: "localhost:8080",
  notes: "Windows\r\nline ends\r\n",
};
const twoLines = {
  name: 'two\nlines, and "quotes"',
  username: " spaced ",
  password: "'apostrophe\ttab",
  totp_secret: "JBSW Y3DP EHPK 3PXP",
  folder: '100%25 "echt", wirklich',
};
const memo = {
  name: "メモ",
  notes: 'nur eine Notiz,\n"zweite" Zeile\n',
  "custom.secret": "s",
  folder: "Arbeit/Server & Röhren",
};
const passkey = {
  key_type: "public-key",
  key_algorithm: "ECDSA",
  key_curve: "P-256",
  private_key:
    "MIGHAgEAMBMGByqGSM49AgEGCCqGSM49AwEHBG0wawIBAQQgbWFkZSB1cCwgbm9ib2R5J3Mga2V5LCBub3QgcmVhbKFEA0IABAABAgMEBQYHCAkKCwwN" +
    "Dg8QERITFBUWFxgZGhscHR4fICEiIyQlJicoKSorLC0uLzAxMjM0NTY3ODk6Ozw9Pj8",
  rp_id: "shop.example",
  rp_name: "Läden",
  user_handle: "dXNlci0x",
  created: "2025-05-05T05:05:05.555Z",
};

/** In the file's order: by name. */
const exported: PlainRecord[] = [
  note({
    name: "Bank",
    kind: "bankAccount",
    notes: "of the bank",
    "custom.bankName": "Acme Bank",
    "custom.nameOnAccount": "Ada Łovelace",
    "custom.accountType": "checking",
    "custom.accountNumber": "000123456789",
    "custom.routingNumber": "000000000",
    "custom.branchNumber": "000",
    "custom.pin": "1234",
    "custom.swiftCode": "ACMEUS33",
    "custom.iban": "GB00ACME12345600000001",
    "custom.bankContactPhone": "1-800-123-4567",
    "custom.since": "1999",
    ...made("19:17:11.317"),
  }),
  note({ name: "Empty note", ...made("19:16:51.156") }),
  note({
    name: "Führerschein",
    kind: "driversLicense",
    "custom.firstName": "Ada",
    "custom.middleName": "K.",
    "custom.lastName": "Łovelace",
    "custom.dateOfBirth": "1990-01-15",
    "custom.licenseNumber": "D12345678",
    "custom.issuingCountry": "GB",
    "custom.issuingState": "York",
    "custom.issueDate": "2020-06-01",
    "custom.expirationDate": "2028-06-01",
    "custom.issuingAuthority": "DVLA",
    "custom.licenseClass": "C",
    ...made("19:17:17.308"),
  }),
  {
    type: "identity",
    payload: {
      name: "Ich",
      title: "Dr",
      first_name: "Ada",
      middle_name: "King",
      last_name: "Łovelace",
      address_1: "1 Way",
      address_2: "Flat 2",
      address_3: "Back",
      city: "York",
      state: "Yorks",
      postal_code: "YO1",
      country: "GB",
      company: "C & Co",
      email: "ada@example.com",
      phone: "+44 1",
      ssn: "SSN-1",
      username: "ada",
      passport_number: "P1",
      license_number: "L1",
      "custom.whole name": "full_name",
      "custom_type.whole name": "linked",
      ...made("19:17:01.981"),
    },
  },
  {
    type: "card",
    payload: {
      name: "Karte",
      cardholder_name: "Ada Łovelace",
      brand: "Visa",
      number: "4111111111111111",
      exp_month: "3",
      exp_year: "2029",
      code: "012",
      notes: "card notes",
      "custom.PIN": "0001",
      "custom_type.PIN": "hidden",
      "custom.again": "code",
      "custom_type.again": "linked",
      favorite: "true",
      ...made("19:16:55.851"),
    },
  },
  login({
    ...shop,
    uri_2_match: "domain",
    uri_3_match: "host",
    uri_4_match: "starts_with",
    uri_5_match: "exact",
    uri_6_match: "regular_expression",
    uri_7_match: "never",
    "custom_type.PIN": "hidden",
    "custom_type.PIN (2)": "hidden",
    "custom_type.remember": "boolean",
    "custom_type.forget": "boolean",
    "custom.again": "password",
    "custom_type.again": "linked",
    "custom.who": "username",
    "custom_type.who": "linked",
    "custom.two lines": "one\ntwo: 2",
    "custom.nothing": "",
    ...made("19:16:14.313"),
  }),
  {
    type: "passkey",
    payload: {
      ...passkey,
      name: "Läden & Söhne 🗝",
      credential_id: "AAECAwQFRgeICQoLDA0ODw",
      username: "ada@example.com",
      user_display_name: "Ada Ł",
      counter: "0",
      discoverable: "true",
      folder: "Arbeit/Server & Röhren",
      favorite: "true",
      ...made("19:16:14.313"),
    },
  },
  login({ name: "Nothing in it", ...made("19:16:34.124", "19:16:34.130") }),
  {
    type: "passkey",
    payload: {
      ...passkey,
      name: "Only a passkey",
      credential_id: "AAECAwQFBgcICQoLDA0ODxAR",
      counter: "7",
      discoverable: "false",
      ...made("19:16:40.310"),
    },
  },
  note({
    name: "Pass",
    kind: "passport",
    "custom.surname": "Łovelace",
    "custom.givenName": "Ada",
    "custom.dateOfBirth": "1990-01-15",
    "custom.sex": "F",
    "custom.birthPlace": "London",
    "custom.nationality": "GBR",
    "custom.issuingCountry": "GB",
    "custom.passportNumber": "A12345678",
    "custom.passportType": "P",
    "custom.nationalIdentificationNumber": "123-45-6789",
    "custom.issuingAuthority": "HMPO",
    "custom.issueDate": "2020-06-01",
    "custom.expirationDate": "2030-06-01",
    ...made("19:17:23.936"),
  }),
  login({ ...router, ...made("19:16:20.492") }),
  {
    type: "ssh_key",
    payload: {
      name: "Schlüssel",
      private_key: "-----BEGIN OPENSSH PRIVATE KEY-----\nbWFkZSB1cA==\n-----END OPENSSH PRIVATE KEY-----\n",
      public_key: "ssh-ed25519 bWFkZSB1cA== ada@example.com",
      fingerprint: "SHA256:bWFkZSB1cA",
      notes: "of the server",
      ...made("19:17:06.109"),
    },
  },
  login({ ...twoLines, ...made("19:16:28.942") }),
  note({ name: "With: files", notes: "n", ...made("19:17:51.707") }),
  note({ ...memo, "custom.a: b": "c: d", "custom_type.secret": "hidden", ...made("19:16:44.837") }),
];
const archived = { kind: "item", item: "Archived", reason: "it is archived" };
const expected = [
  archived,
  { kind: "history", item: "Läden & Söhne 🗝", reason: "earlier passwords: 2" },
  { kind: "setting", item: null, reason: 'the folder "Leer" holds nothing' },
];

await t.test("the JSON that Bitwarden's command line exports comes in whole", async (t) => {
  const { format, records, leftOut, notes } = await readImport(file(".json"));
  t.strictSame([format, notes], ["bitwarden-json", []]);
  t.strictSame(records, exported);
  t.strictSame(leftOut, expected);
  const { records: more } = await readImport(file(".json"), { archived: true });
  const old = { name: "Archived", username: "old", password: "kept", archived: "true" };
  t.strictSame(more, [login({ ...old, ...made("19:17:30.480") }), ...exported]);
});

await t.test("its archive holds the same items, and files by the names of their items", async (t) => {
  const { format, records, leftOut } = await readImport(file(".zip"));
  t.equal(format, "bitwarden-json");
  t.strictSame(records, exported);
  const attached = (name: string) => ({
    kind: "attachment",
    item: "With_ files",
    reason: `the attached file "${name}"`,
  });
  t.strictSame(leftOut, [...expected, attached("scan.txt"), attached("scan 2_ b.txt")]);
});

await t.test("its table comes in as far as possible, and the rest is reported", async (t) => {
  const { format, records, leftOut, notes } = await readImport(file(".csv"));
  t.strictSame([format, notes], ["bitwarden-csv", []]);
  t.strictSame(records, [
    note({ name: "Empty note" }),
    // A field's second line with a colon looks like a field.
    login({ ...shop, "custom.two lines": "one", "custom.two": "2" }),
    login({ name: "Nothing in it" }),
    login({ name: "Only a passkey" }),
    login(router),
    login(twoLines),
    note({ name: "With: files", notes: "n" }),
    note({ ...memo, "custom.a": "b: c: d" }),
  ]);
  const without = (field: string) => ({
    kind: "field",
    item: "Läden & Söhne 🗝",
    reason: `the field "${field}", for which the table says "undefined"`,
  });
  t.strictSame(leftOut, [archived, without("again"), without("who"), without("nothing")]);
});

await t.test("an organization's items come with their collections, of the JSON and of the table", async (t) => {
  const shared = {
    name: "Shared",
    username: "team",
    password: "p",
    uri: "https://team.example",
    folder: "Team",
    collections: 'Team\nTeam/Öps, "x"',
  };
  const sharedNote = { name: "Shared note", notes: "n", folder: 'Team/Öps, "x"' };
  const json = await readImport(file("-organization.json"));
  const card = { name: "Shared card", number: "4111111111111111", folder: "Team" };
  t.strictSame(json.records, [
    login({ ...shared, ...made("19:18:35.254") }),
    note({ ...sharedNote, ...made("19:18:38.603") }),
    { type: "card", payload: { ...card, ...made("19:18:41.796") } },
  ]);
  const table = await readImport(file("-organization.csv"));
  t.strictSame(table.records, [login(shared), note(sharedNote)]);
  t.strictSame([json.leftOut, table.leftOut], [[], []]);
});
