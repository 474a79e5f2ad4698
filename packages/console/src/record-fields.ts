/** How a field of a record is shown and edited. */
export type FieldKind = "text" | "secret" | "code" | "address" | "lines";

/** The fields that a new record of a type has, in order. `docs/import.md` lists all that a record may have. */
export const recordTypes = {
  login: { username: "text", password: "secret", totp_secret: "code", uri: "address", notes: "lines" },
  card: {
    cardholder_name: "text",
    number: "secret",
    exp_month: "text",
    exp_year: "text",
    code: "secret",
    notes: "lines",
  },
  identity: {
    first_name: "text",
    last_name: "text",
    company: "text",
    email: "text",
    phone: "text",
    address_1: "text",
    postal_code: "text",
    city: "text",
    country: "text",
    notes: "lines",
  },
  note: { notes: "lines" },
} as const satisfies Record<string, Record<string, FieldKind>>;

export type KnownType = keyof typeof recordTypes;

const secrets = /^(password|totp_secret|number|code|ssn|passport_number|license_number|private_key|passphrase|pin)$/;

/** The prefix of the key of a person's own field. */
export const customPrefix = "custom.";

/** The key of the kind of such a field. */
export function customKind(key: string): string {
  return `custom_type.${key.slice(customPrefix.length)}`;
}

/** Whether the value of a field is hidden until the person asks for it. */
export function isSecret(key: string, fields: Readonly<Record<string, string>>): boolean {
  if (key.startsWith(customPrefix)) return fields[customKind(key)] === "hidden";
  return secrets.test(key);
}

export function kindOf(type: string, key: string, secret: boolean): FieldKind {
  if (key === "totp_secret") return "code";
  const known: Readonly<Record<string, FieldKind>> = Object.hasOwn(recordTypes, type)
    ? recordTypes[type as KnownType] // its own key
    : {};
  if (Object.hasOwn(known, key)) return known[key] ?? "text";
  if (secret) return "secret";
  if (/^uri(_[1-9]\d*)?$/.test(key)) return "address";
  return key === "notes" ? "lines" : "text";
}
