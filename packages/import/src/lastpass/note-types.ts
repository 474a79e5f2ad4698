import type { FieldNames } from "../bitwarden/item-fields.ts";

/** A LastPass form: the resulting type, and its fields by LastPass's names and ours. */
export interface NoteType {
  type: string;
  fields: FieldNames;
  /**
   * Further names of the form, which become custom fields. Only lines with a known name start a
   * field.
   */
  others: readonly string[];
}

const card: NoteType = {
  type: "card",
  fields: [
    ["Name on Card", "cardholder_name"],
    ["Type", "brand"],
    ["Number", "number"],
    ["Security Code", "code"],
  ],
  others: ["Start Date", "Expiration Date"],
};

/** The forms that become another type than a note, and those whose values span several lines. */
const forms: Readonly<Record<string, NoteType>> = {
  "Credit Card": card,
  // LastPass's command line uses these names for the same form.
  VISA: card,
  Mastercard: card,
  "American Express": card,
  Address: {
    type: "identity",
    fields: [
      ["Title", "title"],
      ["First Name", "first_name"],
      ["Middle Name", "middle_name"],
      ["Last Name", "last_name"],
      ["Username", "username"],
      ["Company", "company"],
      ["Address 1", "address_1"],
      ["Address 2", "address_2"],
      ["Address 3", "address_3"],
      ["City / Town", "city"],
      ["State", "state"],
      ["Zip / Postal Code", "postal_code"],
      ["Country", "country"],
      ["Email Address", "email"],
      ["Phone", "phone"],
    ],
    others: ["Gender", "Birthday", "County", "Timezone", "Evening Phone", "Mobile Phone", "Fax"],
  },
  "SSH Key": {
    type: "ssh_key",
    fields: [
      ["Private Key", "private_key"],
      ["Public Key", "public_key"],
      ["Passphrase", "passphrase"],
    ],
    others: ["Bit Strength", "Format", "Hostname", "Date"],
  },
  Database: {
    type: "database",
    fields: [
      ["Type", "database_type"],
      ["Hostname", "host"],
      ["Port", "port"],
      ["Database", "database"],
      ["Username", "username"],
      ["Password", "password"],
    ],
    others: ["SID", "Alias"],
  },
  Server: {
    type: "login",
    fields: [
      ["Hostname", "host"],
      ["Username", "username"],
      ["Password", "password"],
    ],
    others: [],
  },
};

/** A Map, because a form may have any name, also that of an object's built-in member. */
export const noteTypes: ReadonlyMap<string, NoteType> = new Map(Object.entries(forms));

/** Names in other forms whose values must be hidden. */
export const hiddenNames = /^(?:.*password|pin|.*security code|passphrase|.*private key|account number|iban number)$/i;
