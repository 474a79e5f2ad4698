// Files with the structure that KeePass 2.57 writes (Export, KeePass XML (2.x)): protected values
// are in the clear and marked `ProtectInMemory`, binaries are referred to, times are ISO 8601.
// Exports of KeePassXC are in ../files: its times are those of the database's inside.

const times = `<Times><CreationTime>2024-01-02T03:04:05Z</CreationTime><LastModificationTime>2024-02-03T04:05:06Z</LastModificationTime><LastAccessTime>2024-02-03T04:05:06Z</LastAccessTime><ExpiryTime>2030-01-01T00:00:00Z</ExpiryTime><Expires>EXPIRES</Expires><UsageCount>3</UsageCount><LocationChanged>2024-01-02T03:04:05Z</LocationChanged></Times>`;

const string = ([key, value]: readonly [string, string]): string => {
  const hidden = key.startsWith("!") ? ' ProtectInMemory="True"' : "";
  return `<String><Key>${key.replace("!", "")}</Key><Value${hidden}>${value}</Value></String>`;
};

/** An entry; strings whose name begins with `!` are protected. `values` are XML. */
export function entry(uuid: string, values: Readonly<Record<string, string>>, more = "", expires = "False"): string {
  const rest = `<AutoType><Enabled>True</Enabled><DataTransferObfuscation>0</DataTransferObfuscation><DefaultSequence /></AutoType>`;
  const strings = Object.entries(values).map(string).join("");
  return `<Entry><UUID>${uuid}</UUID><IconID>0</IconID><ForegroundColor /><BackgroundColor /><OverrideURL /><QualityCheck>True</QualityCheck><Tags>one;two words</Tags>${times.replace("EXPIRES", expires)}${strings}${more.includes("<AutoType>") ? "" : rest}${more}</Entry>`;
}

/** A group with what is in it. */
export function group(uuid: string, name: string, inner: string): string {
  return `<Group><UUID>${uuid}</UUID><Name>${name}</Name><Notes /><IconID>48</IconID>${times.replace("EXPIRES", "False")}<IsExpanded>True</IsExpanded><DefaultAutoTypeSequence /><EnableAutoType>null</EnableAutoType><EnableSearching>null</EnableSearching><LastTopVisibleEntry>AAAAAAAAAAAAAAAAAAAAAA==</LastTopVisibleEntry>${inner}</Group>`;
}

/** A database around its outermost group. */
export function database(root: string): string {
  return `<?xml version="1.0" encoding="utf-8" standalone="yes"?>
<KeePassFile>
  <Meta><Generator>KeePass</Generator><DatabaseName>Mine</DatabaseName><MemoryProtection><ProtectPassword>True</ProtectPassword></MemoryProtection><RecycleBinEnabled>True</RecycleBinEnabled><RecycleBinUUID>YmluYmluYmluYmluYmluYg==</RecycleBinUUID><Binaries><Binary ID="0" Compressed="True">H4sIAAAAAAAEAAMAAAAAAAAAAAA=</Binary></Binaries></Meta>
  <Root>${root}<DeletedObjects /></Root>
</KeePassFile>`;
}

const idOne = "AAECAwQFBgcICQoLDA0ODw==";

export const keepassFile = database(
  group(
    "cm9vdHJvb3Ryb290cm9vdA==",
    "Database",
    [
      entry(
        idOne,
        {
          ...{
            Title: "Shop &amp; Co",
            UserName: "ada",
            "!Password": "canary-&lt;password&gt;",
            URL: "https://shop.example",
          },
          ...{
            KP2A_URL: "https://b.example",
            KP2A_URL_1: "androidapp://c",
            Notes: "two\nlines",
            "!PIN": "0042",
            plain: "p",
          },
          otp: "otpauth://totp/Shop:ada?secret=JBSWY3DPEHPK3PXP&amp;period=30&amp;digits=6&amp;issuer=Shop",
        },
        `<Binary><Key>scan.pdf</Key><Value Ref="0" /></Binary><History>${entry(idOne, { Title: "Shop", "!Password": "canary-earlier" })}${entry(idOne, { Title: "Shop" })}</History>`,
        "True",
      ),
      group(
        "Z3JvdXBncm91cGdyb3VwZw==",
        "Work / ops",
        group(
          "c3ViZ3JvdXBzdWJncm91cA==",
          "Sub",
          [
            entry("AQ==", { Title: "Note", UserName: "", "!Password": "", URL: "", Notes: "text" }),
            entry("Ag==", {
              Title: "KeePass",
              UserName: "u",
              "TimeOtp-Secret-Base32": "JBSWY3DPEHPK3PXP",
              "TimeOtp-Period": "60",
              "TimeOtp-Length": "8",
              "TimeOtp-Algorithm": "HMAC-SHA-256",
            }),
            entry("Aw==", { Title: "Hex", UserName: "u", "TimeOtp-Secret-Hex": "48656c6c6f21deadbeef" }),
            entry("BA==", { Title: "Tray", UserName: "u", "TOTP Seed": "JBSWY3DPEHPK3PXP", "TOTP Settings": "30;6" }),
            entry("BQ==", { Title: "Steam", UserName: "u", "TOTP Seed": "JBSWY3DPEHPK3PXP", "TOTP Settings": "30;S" }),
            entry("Bg==", { Title: "KeeOtp", UserName: "u", otp: "key=JBSWY3DPEHPK3PXP&amp;step=30&amp;size=8" }),
            entry("Bw==", {
              Title: "Refers",
              UserName: "{REF:U@I:000102030405060708090A0B0C0D0E0F}",
              "!Password": "{REF:P@I:000102030405060708090A0B0C0D0E0F}",
              URL: "see {REF:A@T:Shop}",
            }),
            entry("CA==", {
              ...{
                Title: "Passkey",
                UserName: "ada",
                URL: "https://shop.example",
                "!KPEX_PASSKEY_CREDENTIAL_ID": "AQID",
              },
              ...{
                KPEX_PASSKEY_RELYING_PARTY: "shop.example",
                KPEX_PASSKEY_USERNAME: "ada",
                "!KPEX_PASSKEY_USER_HANDLE": "dQ",
              },
              "!KPEX_PASSKEY_PRIVATE_KEY_PEM":
                "-----BEGIN PRIVATE KEY-----\nMIGHAgEAMBMGByqGSM49\nAgEGCCqGSM49AwEH\n-----END PRIVATE KEY-----\n",
            }),
            entry(
              "CQ==",
              { Title: "Types", UserName: "u" },
              "<AutoType><Enabled>True</Enabled><DefaultSequence>{PASSWORD}{ENTER}</DefaultSequence></AutoType><CustomData><Item><Key>plugin</Key><Value>x</Value></Item></CustomData>",
            ),
          ].join(""),
        ),
      ),
      group(
        "YmluYmluYmluYmluYmluYg==",
        "Recycle Bin",
        group("eA==", "In it", entry("Cg==", { Title: "Deleted", "!Password": "x" })),
      ),
    ].join(""),
  ),
);
