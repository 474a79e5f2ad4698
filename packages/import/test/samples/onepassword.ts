// `export.data` with the structure that 1Password 8 writes into a 1PUX of version 3 (8.10). Every
// field of a section has the hints for its input besides its value; `field` adds them. All values
// are invented.

/** A field of a section. */
export function field(id: string, title: string, value: unknown): Record<string, unknown> {
  const inputTraits = { keyboard: "default", correction: "default", capitalization: "default" };
  return { title, id, value, guarded: false, multiline: false, dontGenerate: false, inputTraits };
}

function item(
  categoryUuid: string,
  title: string,
  details: Record<string, unknown>,
  over: Record<string, unknown> = {},
) {
  const { overview, ...rest } = over as { overview?: object };
  return {
    ...{ uuid: title, favIndex: 0, createdAt: 1_700_000_000, updatedAt: 1_700_000_100, state: "active", categoryUuid },
    details: { loginFields: [], notesPlain: "", sections: [], passwordHistory: [], ...details },
    overview: { subtitle: "", urls: null, title, url: "", ps: 0, pbe: 0, pgrng: false, tags: [], ...overview },
    ...rest,
  };
}

const section = (title: string, ...fields: unknown[]): object => ({ title, name: title.toLowerCase(), fields });

export const exportData = {
  accounts: [
    {
      attrs: {
        accountName: "Ada",
        name: "Ada",
        avatar: "",
        email: "ada@example.com",
        uuid: "U",
        domain: "https://my.1password.com/",
      },
      vaults: [
        {
          attrs: { uuid: "V", desc: "", avatar: "", name: "Private / mine", type: "P" },
          items: [
            item(
              "001",
              "Shop",
              {
                loginFields: [
                  { value: "ada", id: "", name: "username", fieldType: "T", designation: "username" },
                  { value: "canary-password", id: "", name: "password", fieldType: "P", designation: "password" },
                  { value: "✓", id: "", name: "remember", fieldType: "C" },
                  { value: "second", id: "", name: "pass2", fieldType: "P" },
                ],
                notesPlain: "two\nlines",
                passwordHistory: [{ value: "canary-earlier", time: 1_690_000_000 }],
                sections: [
                  section(
                    "Security",
                    field("TOTP_1", "one-time password", { totp: "otpauth://totp/Shop?secret=JBSWY3DPEHPK3PXP" }),
                    field("TOTP_2", "another", { totp: "GEZDGNBVGY3TQOJQ" }),
                    field("q", "First pet", { concealed: "Rex" }),
                    field("e", "mail", { email: { email_address: "ada@example.com", provider: null } }),
                    field("d", "since", { date: 1_577_880_000 }),
                    field("l", "see", { reference: "abc" }),
                    field("f", "scan", { file: { fileName: "scan.pdf", documentId: "D", decryptedSize: 3 } }),
                    field("s", "", { ssoLogin: { provider: "google" } }),
                    field("n", "nothing", { string: "" }),
                  ),
                ],
              },
              {
                favIndex: 1,
                overview: {
                  url: "https://shop.example",
                  urls: [
                    { label: "website", url: "https://shop.example", mode: "default" },
                    { label: "", url: "https://shop.example/login", mode: "default" },
                    { label: "for staff", url: "https://shop.example/login", mode: "default" },
                  ],
                  tags: ["work", "a/b"],
                },
              },
            ),
            item("002", "Card", {
              sections: [
                section(
                  "",
                  field("cardholder", "cardholder name", { string: "Ada" }),
                  field("type", "type", { creditCardType: "visa" }),
                  field("ccnum", "number", { creditCardNumber: "4111111111111111" }),
                  field("cvv", "verification number", { concealed: "123" }),
                  field("expiry", "expiry date", { monthYear: 202_903 }),
                  field("validFrom", "valid from", { monthYear: 202_012 }),
                ),
              ],
            }),
            item("004", "Identity", {
              sections: [
                section(
                  "Identification",
                  field("firstname", "first name", { string: "Ada" }),
                  field("lastname", "last name", { string: "L" }),
                ),
                section(
                  "Address",
                  field("address", "address", {
                    address: { street: "1 Way", city: "York", country: "gb", zip: "YO1", state: "" },
                  }),
                  field("defphone", "default phone", { phone: "+44 1" }),
                ),
              ],
            }),
            item("005", "Password", { password: "canary-generated" }),
            item("006", "Document", {
              documentAttributes: { fileName: "deed.pdf", documentId: "D2", decryptedSize: 9 },
            }),
            item("006", "Document with notes", {
              notesPlain: "kept",
              documentAttributes: { fileName: "deed.pdf", documentId: "D3", decryptedSize: 9 },
            }),
            item("101", "Bank", {
              sections: [
                section(
                  "Branch",
                  field("bankName", "bank name", { string: "B" }),
                  field("telephonePin", "PIN", { concealed: "9" }),
                ),
              ],
            }),
            item("102", "Database", {
              sections: [
                section(
                  "",
                  field("database_type", "type", { menu: "postgresql" }),
                  field("hostname", "server", { string: "db.example" }),
                  field("password", "password", { concealed: "p" }),
                ),
              ],
            }),
            item("112", "Token", { sections: [section("", field("credential", "credential", { concealed: "tok" }))] }),
            item("114", "Key", {
              sections: [
                section(
                  "",
                  field("private_key", "private key", {
                    sshKey: {
                      privateKey: "-----BEGIN PRIVATE KEY-----",
                      metadata: {
                        privateKey: "-----BEGIN OPENSSH PRIVATE KEY-----",
                        publicKey: "ssh-ed25519 A",
                        fingerprint: "SHA256:x",
                        keyType: "ed25519",
                      },
                    },
                  }),
                ),
              ],
            }),
            item("001", "Archived", {}, { state: "archived" }),
          ],
        },
        { attrs: { uuid: "W", desc: "", avatar: "", name: "Nothing in it", type: "U" }, items: [] },
      ],
    },
  ],
};

export const exportAttributes = { version: 3, description: "1Password Unencrypted Export", createdAt: 1_700_000_000 };
