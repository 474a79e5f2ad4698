import t from "tap";
import { type PlainRecord, readImport } from "../src/index.ts";
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

await t.test("rows with too many cells, and rows of one cell, are named with their lines", async (t) => {
  const text =
    "name,url,username,password,note,Extra\na,u,n,p,,x\nb,u,n,canary,pass,,\n,,,,,\nc,u\nrest of it\nd,u,n,p,,\n";
  const { records, leftOut, notes } = await readImport(bytesOf(text), { format: "chrome-csv" });
  t.strictSame(
    records.map(({ payload }) => payload),
    [
      { name: "a", username: "n", password: "p", uri: "u", notes: "x" },
      { name: "c", uri: "u" },
      { name: "d", username: "n", password: "p", uri: "u" },
    ],
  );
  t.strictSame(leftOut, [
    { kind: "item", item: "line 3", reason: "the row has 7 cells under 6 headings" },
    { kind: "item", item: "line 6", reason: "the row has 1 cell under 6 headings" },
  ]);
  t.strictSame(notes, [
    "rows with fewer cells than there are headings were read with empty cells at their end: line 5",
  ]);
});

for (const [format, table] of [
  [
    "bitwarden-csv",
    "folder,favorite,type,name,notes,fields,reprompt,login_uri,login_username,login_password,login_totp",
  ],
  ["lastpass-csv", "name,url,username,password,totp,extra,grouping,fav"],
  ["chrome-csv", "name,url,username,password,note"],
  ["csv", "Title,Username,Password,URL,Notes"],
] as const)
  await t.test(`${format}: empty cells at the end of a row may be missing`, async (t) => {
    const headings = table.split(",");
    const cells = headings.map((heading) =>
      heading === "type" ? "login" : heading === "url" ? "https://a.example" : "v",
    );
    const rows = headings.map((_, index) => cells.slice(0, index + 1)).filter((row) => row.length > 1);
    const whole = rows.map((row) => headings.map((_, index) => row[index] ?? ""));
    const read = async (lines: readonly (readonly string[])[]) =>
      readImport(bytesOf([headings, ...lines].map((line) => line.join(",")).join("\n")));
    const [short, long] = [await read(rows), await read(whole)];
    t.equal(short.format, format);
    t.equal(short.records.length, rows.length);
    t.strictSame([short.records, short.leftOut], [long.records, []]);
    t.match(short.notes, [/empty cells at their end: line 2, 3/]);
    t.strictSame(long.notes, []);
  });

await t.test("two columns with one name are refused", async (t) => {
  const twice = "name,url,username,password,Password \nn,u,n,old,canary\n";
  await t.rejects(readImport(bytesOf(twice), { format: "chrome-csv" }), {
    code: "broken",
    message: /two columns "password"/,
  });
  for (const [format, headings] of [
    ["bitwarden-csv", "name,login_username,login_password,Name"],
    ["lastpass-csv", "url,username,password,extra,grouping,URL"],
    ["csv", "Title,Username,Password,title"],
  ] as const)
    await t.rejects(
      readImport(bytesOf(`${headings}\n`), { format }),
      { code: "broken", message: /two columns/ },
      format,
    );
  const strange = "name,url,username,password,,,PIN,pin\nn,u,n,p,,second,1,2\n";
  const { records, leftOut } = await readImport(bytesOf(strange));
  t.strictSame(records, [
    {
      type: "login",
      payload: {
        ...{ name: "n", uri: "u", username: "n", password: "p", "custom.column 6": "second" },
        ...{ "custom.PIN": "1", "custom_type.PIN": "hidden", "custom.pin": "2", "custom_type.pin": "hidden" },
      },
    },
  ]);
  t.strictSame(leftOut, []);
});

await t.test("a table whose rows are all left out, also if there are many", async (t) => {
  const { records, leftOut } = await readImport(bytesOf(`name,url,username,password\n${"a\n".repeat(200_000)}`));
  t.equal(records.length, 0);
  t.equal(leftOut.length, 200_000);
});

await t.test("two values for one field are both preserved", async (t) => {
  const form = '"NoteType:Server\nHostname:h\nUsername:root\nPassword:p\nNotes:"';
  const text = `url,username,password,totp,extra,name,grouping,fav\nhttp://sn,other,p,,${form},Box,,0\n`;
  const payload = { name: "Box", host: "h", username: "root", password: "p", "custom.username": "other" };
  t.strictSame((await readImport(bytesOf(text))).records, [{ type: "login", payload }]);
});

/** One row of each program, whose headings stand in its documentation. */
const programs: readonly [program: string, table: string, records: readonly unknown[]][] = [
  [
    "Dropbox Passwords",
    "Name,URL,Username,Password,Notes\nShop,https://shop.example,ada,canary,first: note\n",
    [{ type: "login", payload: { ...shop(), notes: "first: note" } }],
  ],
  [
    "a table as Chrome's with one-time codes",
    "name,url,username,password,totp\nShop,https://shop.example,ada,canary,JBSWY3DPEHPK3PXP\n",
    [{ type: "login", payload: { ...shop(), totp_secret: "JBSWY3DPEHPK3PXP" } }],
  ],
  [
    "Safari and Apple Passwords",
    "Title,URL,Username,Password,Notes,OTPAuth\nShop,https://shop.example,ada,canary,,otpauth://totp/x?secret=AAAA\n",
    [{ type: "login", payload: { ...shop(), totp_secret: "otpauth://totp/x?secret=AAAA" } }],
  ],
  [
    "Firefox",
    '"url","username","password","httpRealm","formActionOrigin","guid","timeCreated","timeLastUsed","timePasswordChanged"\n' +
      '"https://shop.example","ada","canary",,"https://shop.example/login","{1}","1700000000000","1710000000000","1700000100000"\n',
    [
      {
        type: "login",
        payload: {
          ...shop("shop.example"),
          "custom.formActionOrigin": "https://shop.example/login",
          "custom.guid": "{1}",
          original_created_at: "2023-11-14T22:13:20.000Z",
          original_updated_at: "2023-11-14T22:15:00.000Z",
        },
      },
    ],
  ],
  [
    "KeePassXC",
    '"Group","Title","Username","Password","URL","Notes","TOTP","Icon","Last Modified","Created"\n' +
      '"Root/Web","Shop","ada","canary","https://shop.example","n","otpauth://totp/x?secret=AAAA","0","2024-01-02T00:00:00Z","2024-01-01T00:00:00Z"\n',
    [
      {
        type: "login",
        payload: {
          ...shop(),
          notes: "n",
          totp_secret: "otpauth://totp/x?secret=AAAA",
          folder: "Root/Web",
          original_created_at: "2024-01-01T00:00:00Z",
          original_updated_at: "2024-01-02T00:00:00Z",
        },
      },
    ],
  ],
  [
    "KeePass 1",
    '"Account","Login Name","Password","Web Site","Comments"\n"Shop","ada","canary","https://shop.example","n"\n',
    [{ type: "login", payload: { ...shop(), notes: "n" } }],
  ],
  [
    "Proton Pass",
    "type,name,url,email,username,password,note,totp,createTime,modifyTime,vault\n" +
      'login,Shop,"https://shop.example, https://a.example",ada@a.example,ada,canary,,,1700000000,1700000100,Work\n' +
      "login,Other,https://b.example,ada@a.example,,canary,,,1700000000,1700000000,Work\n" +
      "note,Memo,,,,,text,,1700000000,1700000000,Work\nalias,Mine,,a@b.example,,,,,1700000000,1700000000,Work\n",
    [
      { payload: { ...shop(), uri_2: "https://a.example", email: "ada@a.example", folder: "Work" } },
      { type: "login", payload: { name: "Other", username: "ada@a.example", password: "canary" } },
      { type: "secure_note", payload: { name: "Memo", notes: "text", folder: "Work" } },
      { type: "login", payload: { name: "Mine", kind: "alias", username: "a@b.example" } },
    ],
  ],
  [
    "Dashlane",
    "username,username2,username3,title,password,note,url,category,otpSecret\n" +
      "ada,lovelace,,Shop,canary,n,https://shop.example,Work,JBSWY3DPEHPK3PXP\n",
    [
      {
        type: "login",
        payload: {
          ...shop(),
          "custom.username2": "lovelace",
          notes: "n",
          folder: "Work",
          totp_secret: "JBSWY3DPEHPK3PXP",
        },
      },
    ],
  ],
  [
    "NordPass",
    "name,url,additional_urls,username,password,note,cardholdername,cardnumber,cvc,pin,expirydate,zipcode,folder," +
      "full_name,phone_number,email,address1,address2,city,country,state,type\n" +
      "Shop,https://shop.example,,ada,canary,,,,,,,,Work,,,,,,,,,password\n" +
      "Visa,,,,,,Ada L,4111,123,9876,09/28,,,,,,,,,,,credit_card\n" +
      "Me,,,,,,,,,,,YO1,,Ada L,441,a@b.example,1 Way,,York,GB,,identity\nWork,,,,,,,,,,,,,,,,,,,,,folder\n",
    [
      { type: "login", payload: { ...shop(), folder: "Work" } },
      {
        type: "card",
        payload: {
          ...{ name: "Visa", cardholder_name: "Ada L", number: "4111", code: "123" },
          ...{ "custom.pin": "9876", "custom_type.pin": "hidden", exp_month: "9", exp_year: "2028" },
        },
      },
      {
        type: "identity",
        payload: {
          ...{ name: "Me", postal_code: "YO1", "custom.full_name": "Ada L", phone: "441", email: "a@b.example" },
          ...{ address_1: "1 Way", city: "York", country: "GB" },
        },
      },
    ],
  ],
  [
    "RoboForm",
    "Name,Url,MatchUrl,Login,Pwd,Note,Folder,RfFieldsV2\nShop,https://shop.example,https://m.example,ada,canary,,/Work,x\n",
    [
      {
        type: "login",
        payload: { ...shop(), "custom.MatchUrl": "https://m.example", folder: "Work", "custom.RfFieldsV2": "x" },
      },
    ],
  ],
  [
    "1Password",
    "Title,Url,Username,Password,OTPAuth,Favorite,Archived,Tags,Notes\n" +
      "Shop,https://shop.example,ada,canary,,true,false,one;two,n\nOld,https://old.example,ada,canary,,false,true,,\n",
    [{ type: "login", payload: { ...shop(), favorite: "true", tags: "one\ntwo", notes: "n" } }],
  ],
];

function shop(name = "Shop"): Record<string, string> {
  return { name, uri: "https://shop.example", username: "ada", password: "canary" };
}

for (const [program, table, expected] of programs)
  for (const [how, text] of [
    ["as it is written", table],
    ["with CR LF", table.replaceAll("\n", "\r\n")],
    ["with a byte order mark", `\uFEFF${table}`],
    ["with tabs", table.replaceAll(/,(?! )/g, "\t")],
    [
      "with semicolons, as spreadsheets write",
      `sep=;\n${table.replaceAll("one;two", '"one;two"').replaceAll(/,(?! )/g, ";")}`,
    ],
  ] as const)
    await t.test(`${program}'s table ${how}`, async (t) => {
      const { format, records, leftOut } = await readImport(bytesOf(text));
      t.equal(format, "csv");
      t.match(records, expected);
      t.equal(records.length, expected.length);
      for (const [index, { payload }] of records.entries()) {
        const whole = (expected[index] as { payload: Record<string, string> }).payload;
        if (program !== "Proton Pass") t.strictSame(Object.keys(payload).sort(), Object.keys(whole).sort());
      }
      t.strictSame(leftOut, program === "1Password" ? [{ kind: "item", item: "Old", reason: "it is archived" }] : []);
    });

await t.test(
  "a table whose headings are not known is refused, and its columns are named where they are headings",
  async (t) => {
    const finnish = "Otsikko,Tunnus,Salasana,URL,Muistiinpanot\nShop,ada,canary,https://shop.example,n\n";
    await t.rejects(readImport(bytesOf(finnish)), {
      code: "unknown_format",
      message: /of "Otsikko", "Tunnus", "Salasana", "URL", "Muistiinpanot": say what they hold with --map/,
    });
    for (const first of [
      "Shop,ada,canary,7",
      "Shop,ada,canary,https://shop.example",
      "Bank,https://b.example,user,password",
      "a@b.example,password",
    ]) {
      const error: unknown = await readImport(bytesOf(`${first}\nx,y\n`)).catch((each: unknown) => each);
      t.match(error, { code: "unknown_format", message: /none of its \d headings is known/ });
      t.notMatch(String(error), /canary|Bank|ada/, "the first row may be an item");
    }
    const map = { Otsikko: "name", tunnus: "username", "Salasana ": "password", Muistiinpanot: "notes" };
    const { format, records, leftOut } = await readImport(bytesOf(finnish), { map });
    t.strictSame([format, leftOut], ["csv", []]);
    t.strictSame(records, [{ type: "login", payload: { ...shop(), notes: "n" } }]);
  },
);

await t.test("a map names the fields of columns, in every table", async (t) => {
  const text =
    "name,url,username,password,note,Costs,Pin,Mail,Guid\nShop,https://shop.example,ada,canary,,12,9,a@b.example,x\n";
  const map = { costs: "custom.Price", pin: "totp_secret", Mail: "email", guid: "none" };
  const more = { "custom.Price": "12", totp_secret: "9", email: "a@b.example" };
  for (const format of ["csv", "chrome-csv"] as const) {
    const { records, leftOut, notes } = await readImport(bytesOf(text), { format, map });
    t.strictSame(records, [{ type: "login", payload: { ...shop(), ...more } }], format);
    t.strictSame(leftOut, []);
    t.strictSame(notes, ['the column "guid" is not imported, as --map says']);
  }
  for (const [wrong, message] of [
    [{ nowhere: "name" }, /no column "nowhere"/],
    [{ pin: "pincode" }, /cannot be mapped to "pincode"/],
    [{ note: "custom" }, /gives the column "note" its meaning/],
  ] as const)
    await t.rejects(readImport(bytesOf(text), { format: "chrome-csv", map: wrong }), { code: "wrong_format", message });
  await t.rejects(readImport(bytesOf('{"encrypted":false,"items":[]}'), { map }), { message: /no table/ });
});

await t.test("a line of LastPass's form with an unknown name is a field of its own", async (t) => {
  const form = "NoteType:Server\nLanguage:en-US\nRack:7\nHostname:h\nSlot:b: 2\nUsername:root\nNotes:a: b\nc: d";
  const text = `url,username,password,totp,extra,name,grouping,fav\nhttp://sn,,,,"${form}",Box,,maybe\n`;
  t.strictSame((await readImport(bytesOf(text))).records, [
    {
      type: "login",
      payload: {
        ...{ name: "Box", "custom.Rack": "7", host: "h", "custom.Slot": "b: 2", username: "root", notes: "a: b\nc: d" },
        "custom.fav": "maybe",
      },
    },
  ]);
});

await t.test("a row of LastPass for a folder is named only where the folder holds nothing else", async (t) => {
  const text =
    "url,username,password,totp,extra,name,grouping,fav\nhttp://group,,,,,,Work,0\nhttps://a.example,u,p,,,a,Work,0\n" +
    "http://group,,,,,,Empty,0\nhttp://group,,,,canary,,Empty,0\n";
  const { records, leftOut } = await readImport(bytesOf(text));
  t.match(records, [{ payload: { name: "a" } }, { payload: { notes: "canary", folder: "Empty" } }]);
  t.strictSame(leftOut, [{ kind: "setting", item: null, reason: 'the folder "Empty" has a row of its own' }]);
});

await t.test("headings in other languages", async (t) => {
  for (const headings of [
    "Titel;Benutzername;Kennwort;Webseite;Notizen",
    "Titre;Nom d’utilisateur;Mot de passe;Site web;Remarques",
    "Título;Usuario;Contraseña;URL;Notas",
  ]) {
    const { format, records } = await readImport(bytesOf(`${headings}\r\nShop;ada;canary;https://shop.example;n\r\n`));
    t.equal(format, "csv");
    t.strictSame(records, [{ type: "login", payload: { ...shop(), notes: "n" } }], headings);
  }
});
