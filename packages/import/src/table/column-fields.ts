/** The fields that a column can be mapped to, and words that the reader interprets. */
export const columnFields = [
  ...["name", "type", "notes", "folder", "favorite", "tags", "archived", "reprompt", "expires_at", "kind"],
  ...["original_created_at", "original_updated_at"],
  ...["username", "password", "totp_secret", "uri", "email"],
  ...["cardholder_name", "brand", "number", "exp_month", "exp_year", "expiry", "code"],
  ...["title", "first_name", "middle_name", "last_name", "company", "address_1", "address_2", "address_3"],
  ...["city", "state", "postal_code", "country", "phone", "ssn", "passport_number", "license_number"],
  ...["private_key", "public_key", "fingerprint", "passphrase"],
  ...["database_type", "host", "port", "database", "credential"],
] as const;

/** A column's cells become a custom field with the column's heading. */
export const asCustom = "custom";
/** A column's cells are not imported. */
export const asNothing = "none";

/** Whether `--map` accepts the field. */
export function isColumnField(field: string): boolean {
  return (
    (columnFields as readonly string[]).includes(field) ||
    field === asCustom ||
    field === asNothing ||
    /^custom\../s.test(field)
  );
}

/** Common headings, without case, spaces and punctuation, by field. */
const names: Readonly<Record<string, readonly string[]>> = {
  name: ["name", "title", "account", "accountname", "itemname"],
  type: ["type"],
  uri: ["url", "uri", "website", "websiteaddress", "websiteurl", "loginurl", "loginuri", "urls", "site", "web"],
  username: ["username", "login", "loginname", "loginusername", "user", "userid"],
  email: ["email", "emailaddress"],
  password: ["password", "pwd", "pass", "loginpassword"],
  notes: ["note", "notes", "comment", "comments", "extra"],
  totp_secret: ["totp", "otp", "otpauth", "otpsecret", "otpurl", "totpsecret", "logintotp", "twofactorsecret"],
  folder: ["folder", "group", "grouping", "category", "vault", "collection"],
  tags: ["tags"],
  favorite: ["favorite", "favourite", "fav"],
  archived: ["archived"],
  original_created_at: ["timecreated", "createtime", "created", "createdat", "creationtime"],
  original_updated_at: ["timepasswordchanged", "modifytime", "lastmodified", "modified", "updatedat"],
  cardholder_name: ["cardholdername", "cardholder"],
  number: ["cardnumber"],
  code: ["cvc", "cvv", "securitycode"],
  expiry: ["expirydate", "expirationdate"],
  address_1: ["address1"],
  address_2: ["address2"],
  city: ["city"],
  state: ["state"],
  postal_code: ["zipcode", "postalcode"],
  country: ["country"],
  phone: ["phonenumber", "phone"],
  // Icons and times of use are not imported from any format.
  [asNothing]: ["timelastused", "lastused", "lastusetime", "icon"],
};

/**
 * German, French, Spanish, Portuguese, Italian and Dutch headings without accents, for tables that
 * people made.
 */
const namesElsewhere: Readonly<Record<string, readonly string[]>> = {
  name: ["titel", "titre", "titulo", "titolo", "nom", "nombre", "nome", "naam", "bezeichnung"],
  uri: ["webseite", "webadresse", "internetadresse", "adresseweb", "siteweb", "sitioweb", "sitoweb"],
  username: ["benutzername", "benutzer", "nomdutilisateur", "identifiant", "nombredeusuario", "usuario", "nomeutente"],
  password: ["passwort", "kennwort", "motdepasse", "contrasena", "senha", "palavrapasse", "wachtwoord"],
  notes: ["notizen", "notiz", "bemerkung", "bemerkungen", "remarques", "notas", "notities", "commentaires"],
  folder: ["ordner", "gruppe", "kategorie", "dossier", "groupe", "categorie", "carpeta", "pasta", "cartella", "map"],
};

const fieldByName: ReadonlyMap<string, string> = new Map(
  [...Object.entries(namesElsewhere), ...Object.entries(names)].flatMap(([field, each]) =>
    each.map((name) => [name, field] as const),
  ),
);

/** The field of a heading; undefined for an unknown one. */
export function fieldOfHeading(heading: string): string | undefined {
  const plain = heading.normalize("NFKD").toLowerCase();
  return fieldByName.get(plain.replace(/[\s\p{M}_.\-"'’]/gu, ""));
}

/**
 * Whether a table's first row has headings including that of a password. A table without headings
 * starts with an item, whose password may be `password`; then it also has an address or an e-mail
 * address.
 */
export function hasPasswordHeading(headings: readonly string[]): boolean {
  return !looksLikeItem(headings) && headings.some((heading) => fieldOfHeading(heading) === "password");
}

/** Whether the headings can be shown: one of them is known, so they are no item. */
export function areHeadings(headings: readonly string[]): boolean {
  return !looksLikeItem(headings) && headings.some((heading) => fieldOfHeading(heading) !== undefined);
}

function looksLikeItem(headings: readonly string[]): boolean {
  return headings.some((heading) => /:\/\/|@/.test(heading));
}
