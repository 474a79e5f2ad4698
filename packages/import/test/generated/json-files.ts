import type { GeneratedFile, Maker } from "./maker.ts";
import { bytesOf } from "../records.ts";

/** Members of no known version: a text, a number, an object, a list. */
function unknownMembers(make: Maker, where: string): Record<string, unknown> {
  if (!make.chance(25)) return {};
  const value = make.value(`${where}, a member that is not known`, { hard: true });
  const key = make.any(["newMember", "constructor", "x"]);
  return { [key]: make.any<unknown>([value, { inner: value }, [value], { deep: { deeper: [value] } }]) };
}

function customFields(make: Maker, where: string): object[] {
  return make.times(3, () => ({
    name: make.chance(70)
      ? make.any(["PIN", "PIN", "", "coffer"])
      : make.value(`${where}, the name of a custom field`, { isName: true }),
    value: make.value(`${where}, a custom field`, { hard: true }),
    type: make.any([0, 1, 2, 7, undefined]),
    linkedId: null,
    ...unknownMembers(make, `${where}, a custom field`),
  }));
}

/** An object with a random choice of its members. */
function some(make: Maker, where: string, keys: readonly string[]): Record<string, unknown> {
  return {
    ...Object.fromEntries(
      keys.filter(() => make.chance(70)).map((key) => [key, make.value(`${where}.${key}`, { hard: true })]),
    ),
    ...unknownMembers(make, where),
  };
}

const identityKeys = [
  "title",
  "firstName",
  "lastName",
  "address1",
  "city",
  "postalCode",
  "email",
  "phone",
  "ssn",
  "username",
];
const passkeyKeys = [
  "credentialId",
  "keyType",
  "keyValue",
  "rpId",
  "userHandle",
  "userName",
  "counter",
  "rpName",
  "creationDate",
];

export function bitwardenJson(make: Maker): GeneratedFile {
  const folders = make.times(3, (index) => {
    const name = make.value("a folder's name", { isName: true, leftOutAs: "holds nothing" });
    return { id: `f${index}`, name };
  });
  const items = make.times(8, (index) => {
    const name = `item ${index} of the file`;
    const state = make.any(["", "", "", "", "deletedDate", "archivedDate"]);
    const before = make.placed.length;
    const parts: Record<string, (where: string) => unknown> = {
      login: (where) => ({
        ...some(make, where, ["username", "password", "totp", "passwordRevisionDate"]),
        uris: make.make<unknown>(
          () => null,
          () =>
            make.times(3, () => ({
              uri: make.value(`${where}, an address`),
              match: make.any([null, 0, 3, 9]),
              ...unknownMembers(make, `${where}, an address`),
            })),
          () => [make.value(`${where}, an address that is a text`)],
        ),
        fido2Credentials: make.times(2, () => some(make, `${where}, a passkey`, passkeyKeys)),
      }),
      card: (where) => some(make, where, ["cardholderName", "brand", "number", "expMonth", "expYear", "code"]),
      identity: (where) => some(make, where, identityKeys),
      sshKey: (where) => some(make, where, ["privateKey", "publicKey", "keyFingerprint"]),
      secureNote: (where) => ({ type: 0, ...unknownMembers(make, where) }),
      bankAccount: (where) => some(make, where, ["iban", "bankName"]),
    };
    const kinds = Object.keys(parts);
    const kind = make.any(kinds);
    const numbers: Record<string, number> = {
      login: 1,
      secureNote: 2,
      card: 3,
      identity: 4,
      sshKey: 5,
      bankAccount: 6,
    };
    const odd = make.chance(20) ? make.any(kinds.filter((each) => each !== kind)) : undefined;
    const item = {
      ...(make.chance(70) ? { type: numbers[kind] } : {}),
      name,
      notes: make.make<unknown>(
        () => null,
        () => make.value(`${kind}, the notes`, { hard: true }),
      ),
      // Notes about a folder are attached to its items.
      folderId: state === "" ? make.any<unknown>([null, ...folders.map(({ id }) => id)]) : null,
      favorite: make.chance(30),
      fields: make.make<unknown>(
        () => null,
        () => customFields(make, kind),
        () => [make.value("a field that is a text")],
      ),
      [kind]: parts[kind]?.(kind),
      ...(odd === undefined ? {} : { [odd]: parts[odd]?.(`${odd} in an item of another kind`) }),
      ...unknownMembers(make, "an item"),
      passwordHistory: make.times(2, () => ({
        password: make.value("an earlier password", { leftOutAs: "earlier passwords", item: name }),
      })),
      attachments: make.times(1, () => ({
        fileName: make.value("a file's name", { isName: true, leftOutAs: "attached file", item: name }),
      })),
      ...(state === "" ? {} : { [state]: "2025-01-01T00:00:00Z" }),
    };
    if (state !== "")
      for (const placed of make.placed.slice(before))
        Object.assign(placed, { item: name, leftOutAs: state === "deletedDate" ? "in the bin" : "archived" });
    return item;
  });
  const text = JSON.stringify({ encrypted: false, folders, items });
  return { format: "bitwarden-json", bytes: bytesOf(make.chance(30) ? `\uFEFF${text}` : text), placed: make.placed };
}

const categoryCodes = ["001", "002", "003", "004", "005", "101", "102", "110", "112", "114", "999"];
const fieldIds = [
  "cardholder",
  "ccnum",
  "cvv",
  "expiry",
  "firstname",
  "address",
  "hostname",
  "username",
  "password",
  "x",
  "",
];

function onepasswordValue(make: Maker, item: string): unknown {
  const where = "a field of a section";
  const value = (): string => make.value(where, { hard: true });
  return make.any<() => unknown>([
    () => ({ string: value() }),
    () => ({ concealed: value() }),
    () => ({ totp: value() }),
    () => ({ phone: value() }),
    () => ({ menu: value(), beside: value() }),
    () => ({ email: { email_address: value(), provider: make.chance(50) ? null : value() } }),
    () => ({ email: value() }),
    () => ({
      address: { street: value(), city: value(), country: value(), zip: value(), state: value(), district: value() },
    }),
    () => ({
      sshKey: { privateKey: "pkcs8", metadata: { privateKey: value(), publicKey: value(), keyType: value() } },
    }),
    () => ({ newKind: { inner: value() } }),
    () => ({
      file: { fileName: make.value(where, { isName: true, leftOutAs: "attached file", item }), documentId: "D" },
    }),
    () => value(),
    () => null,
  ])();
}

export function onepasswordData(make: Maker): GeneratedFile {
  const accounts = make.any([1, 1, 2]);
  const file = {
    accounts: Array.from({ length: accounts }, (_, account) => ({
      attrs: { accountName: `account ${account}`, name: "Ada", email: "ada@example.com", uuid: `A${account}` },
      vaults: make.times(2, (vault) => ({
        attrs: {
          uuid: `V${vault}`,
          name: `vault ${account}-${vault}`,
          desc: make.chance(20)
            ? make.value("a vault's description", { leftOutAs: "the description of the vault" })
            : "",
        },
        items: make.times(5, (index) => {
          const title = `item ${account}-${vault}-${index}`;
          const archived = make.chance(15);
          const before = make.placed.length;
          const item = {
            ...{ uuid: title, favIndex: make.any([0, 1]), createdAt: 1_700_000_000, updatedAt: 1_700_000_100 },
            ...{ state: archived ? "archived" : "active", categoryUuid: make.any(categoryCodes) },
            details: {
              loginFields: make.times(4, (position) => ({
                value: make.value("a field of a form", { hard: true }),
                id: "",
                name: make.any(["username", "password", "x"]),
                fieldType: make.any(["T", "P", "C"]),
                ...(position < 2 ? { designation: ["username", "password"][position] } : {}),
              })),
              notesPlain: make.chance(50) ? undefined : make.value("the notes", { hard: true }),
              sections: make.times(3, () => ({
                title: make.any(["", "Section"]),
                name: "s",
                fields: make.times(4, () => ({
                  title: make.any(["", "a title", "a title"]),
                  id: make.any(fieldIds),
                  value: onepasswordValue(make, title),
                  guarded: true,
                  inputTraits: { keyboard: "default" },
                  ...unknownMembers(make, "a field of a section"),
                })),
              })),
              passwordHistory: make.times(2, () => ({
                value: make.value("an earlier password", { leftOutAs: "earlier passwords", item: title }),
                time: 1,
              })),
              ...(make.chance(30) ? { password: make.value("the password of details") } : {}),
              ...unknownMembers(make, "details"),
            },
            overview: {
              title,
              url: make.chance(50) ? "" : make.value("the first address"),
              urls: make.make<unknown>(
                () => null,
                () => make.times(3, () => ({ label: make.value("an address's label"), url: make.value("an address") })),
              ),
              tags: make.make<unknown>(
                () => null,
                () => make.times(2, () => make.value("a tag")),
              ),
              ps: 80,
              pgrng: true,
              ...unknownMembers(make, "an overview"),
            },
            ...unknownMembers(make, "an item"),
          };
          if (archived)
            for (const placed of make.placed.slice(before))
              Object.assign(placed, { item: title, leftOutAs: "archived" });
          return item;
        }),
      })),
    })),
  };
  return { format: "1pux", bytes: bytesOf(JSON.stringify(file)), placed: make.placed };
}

export function cofferJson(make: Maker): GeneratedFile {
  const records = make.times(6, (index) => {
    const name = `record ${index}`;
    const odd = make.chance(20);
    const inner = (): string =>
      make.value(
        "a record's field",
        odd ? { leftOutAs: "it is no record", item: `item ${index + 1}` } : { hard: true },
      );
    return {
      id: "01900000-0000-7000-8000-000000000000",
      type: make.any(["login", "weird_type", "card"]),
      payload: { name, "custom.x": inner(), password: inner(), ...(odd ? { list: [1] } : {}) },
      ...(!odd && make.chance(30) ? { more: make.value("beside a record", { leftOutAs: '"more"', item: name }) } : {}),
    };
  });
  return {
    format: "coffer-json",
    bytes: bytesOf(JSON.stringify({ format: "coffer", version: 1, records })),
    placed: make.placed,
  };
}
