// Files with the structure that Bitwarden's apps write: the JSON of 2025.x (its web, desktop and
// browser apps and the command line share one writer), with the members in that writer's order;
// `archivedDate` since 2025.8, SSH keys since 2024.12, passkeys since 2023.10. All values are
// invented.

const itemFields = { organizationId: null, collectionIds: null, reprompt: 0, favorite: false, deletedDate: null };

/** The common members of an item. */
export function item(over: Record<string, unknown>): Record<string, unknown> {
  return {
    passwordHistory: null,
    revisionDate: "2025-06-02T10:00:00.000Z",
    creationDate: "2025-06-01T10:00:00.000Z",
    id: "6d0c9d1e-7a52-4c7e-9a37-000000000001",
    folderId: null,
    notes: null,
    fields: [],
    ...itemFields,
    ...over,
  };
}

export const passkey = {
  credentialId: "00010203-0405-0607-0809-0a0b0c0d0e0f",
  keyType: "public-key",
  keyAlgorithm: "ECDSA",
  keyCurve: "P-256",
  keyValue: "MIGHAgEAMBMGByqGSM49AgEGCCqGSM49AwEH",
  rpId: "shop.example",
  userHandle: "dXNlci0x",
  userName: "ada@example.com",
  counter: "0",
  rpName: "Shop",
  userDisplayName: "Ada",
  discoverable: "true",
  creationDate: "2025-05-05T05:05:05.555Z",
};

/** A person's export. */
export const personal = {
  encrypted: false,
  folders: [
    { id: "f1", name: "Work/Servers" },
    { id: "f2", name: "Empty" },
  ],
  items: [
    item({
      type: 1,
      name: "Shop",
      folderId: "f1",
      favorite: true,
      reprompt: 1,
      notes: "two\nlines",
      passwordHistory: [
        { lastUsedDate: "2025-01-01T00:00:00.000Z", password: "canary-earlier-1" },
        { lastUsedDate: "2024-01-01T00:00:00.000Z", password: "canary-earlier-2" },
      ],
      fields: [
        { name: "PIN", value: "0042", type: 1, linkedId: null },
        { name: "PIN", value: "0043", type: 0, linkedId: null },
        { name: "remember", value: "true", type: 2, linkedId: null },
        { name: "again", value: null, type: 3, linkedId: 101 },
        { name: null, value: "nameless", type: 0, linkedId: null },
      ],
      login: {
        fido2Credentials: [passkey],
        uris: [
          { match: null, uri: "https://shop.example" },
          { match: 3, uri: "https://shop.example/login" },
          { match: 0, uri: "androidapp://example.shop" },
        ],
        username: "ada@example.com",
        password: "canary-password",
        totp: "otpauth://totp/Shop:ada?secret=JBSWY3DPEHPK3PXP&issuer=Shop",
      },
    }),
    item({ type: 2, name: "Note", notes: "text", secureNote: { type: 0 } }),
    item({
      type: 3,
      name: "Card",
      card: {
        cardholderName: "Ada",
        brand: "Visa",
        number: "4111111111111111",
        expMonth: "3",
        expYear: "2029",
        code: "123",
      },
    }),
    item({
      type: 4,
      name: "Identity",
      identity: {
        ...{ title: "Dr", firstName: "Ada", middleName: null, lastName: "L", address1: "1 Way", address2: null },
        ...{
          address3: null,
          city: "York",
          state: null,
          postalCode: "YO1",
          country: "GB",
          company: "C",
          email: "a@b.c",
        },
        ...{ phone: "+44 1", ssn: "SSN", username: "ada", passportNumber: "P1", licenseNumber: "L1" },
      },
    }),
    item({
      type: 5,
      name: "Key",
      sshKey: { privateKey: "PRIVATE", publicKey: "ssh-ed25519 AAAA", keyFingerprint: "SHA256:x" },
    }),
    item({
      type: 1,
      name: "Only a passkey",
      login: { fido2Credentials: [passkey], uris: [], username: null, password: null, totp: null },
    }),
    item({ type: 1, name: "Archived", archivedDate: "2025-08-01T00:00:00.000Z", login: { username: "z" } }),
    item({ type: 1, name: "Deleted", deletedDate: "2025-08-01T00:00:00.000Z", login: { username: "z" } }),
    item({ type: 6, name: "A kind that came later", bankAccount: { bankName: "Bank", iban: "DE00", pin: null } }),
    item({
      type: 1,
      name: "With a file",
      login: { username: "z" },
      attachments: [{ id: "a", fileName: "scan.pdf", size: "3" }],
    }),
  ],
};

/** The export of an organization's owner. */
export const organization = {
  encrypted: false,
  collections: [
    { id: "c1", organizationId: "o", name: "Team", externalId: null },
    { id: "c2", organizationId: "o", name: "Team/Ops", externalId: null },
  ],
  items: [
    item({
      type: 1,
      name: "Shared",
      organizationId: "o",
      collectionIds: ["c1", "c2"],
      login: { uris: null, username: "team", password: "p", totp: null },
    }),
  ],
};

/** Exports that only Bitwarden opens. */
export const encryptedForAccount = { encrypted: true, encKeyValidation_DO_NOT_EDIT: "2.x|y|z", folders: [], items: [] };
export const protectedByPassword = {
  ...{ encrypted: true, passwordProtected: true, salt: "c2FsdA==", kdfType: 0, kdfIterations: 600000 },
  ...{ encKeyValidation_DO_NOT_EDIT: "2.x|y|z", data: "2.x|y|z" },
};

/**
 * The table, as a person's export of 2025 writes it: papaparse's quoting, CR LF, addresses joined
 * by commas.
 */
export const table = [
  "folder,favorite,type,name,notes,fields,reprompt,login_uri,login_username,login_password,login_totp",
  'Work,1,login,Shop,"two\nlines","PIN: 0042\nsite: https://x.example: 8\ngoes on",1,"https://shop.example,shop.example,https://x.example/a,b",ada,"pass""word, =1",JBSWY3DPEHPK3PXP',
  ",,note,Note,text,,0,,,,",
].join("\r\n");

/** The table of an organization. */
export const organizationTable = [
  "collections,type,name,notes,fields,reprompt,login_uri,login_username,login_password,login_totp",
  '"Team,Team/Ops",login,Shared,,,0,,team,p,',
].join("\r\n");
