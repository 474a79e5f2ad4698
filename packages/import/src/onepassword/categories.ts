/** A 1Password category: the resulting type, and its fields by 1Password's ids and our names. */
export interface Category {
  type: string;
  fields: Readonly<Record<string, string>>;
}

/**
 * The categories with an own type. Every other one becomes a note with custom fields and its
 * `kind`.
 */
const ofTheirOwn: Readonly<Record<string, Category>> = {
  "001": { type: "login", fields: {} },
  "002": { type: "card", fields: { cardholder: "cardholder_name", type: "brand", ccnum: "number", cvv: "code" } },
  "003": { type: "secure_note", fields: {} },
  "004": {
    type: "identity",
    fields: {
      firstname: "first_name",
      initial: "middle_name",
      lastname: "last_name",
      company: "company",
      defphone: "phone",
      username: "username",
      email: "email",
    },
  },
  "005": { type: "login", fields: {} },
  "102": {
    type: "database",
    fields: {
      database_type: "database_type",
      hostname: "host",
      port: "port",
      database: "database",
      username: "username",
      password: "password",
    },
  },
  "110": { type: "login", fields: { url: "uri", username: "username", password: "password" } },
  "112": { type: "api_credential", fields: { username: "username", credential: "credential", hostname: "host" } },
  "114": { type: "ssh_key", fields: {} },
};

/** A Map, because an item may have any code, also the name of an object's built-in member. */
export const categories: ReadonlyMap<string, Category> = new Map(Object.entries(ofTheirOwn));

const others: Readonly<Record<string, string>> = {
  "006": "Document",
  "100": "Software License",
  "101": "Bank Account",
  "103": "Driver License",
  "104": "Outdoor License",
  "105": "Membership",
  "106": "Passport",
  "107": "Reward Program",
  "108": "Social Security Number",
  "109": "Wireless Router",
  "111": "Email Account",
  "113": "Medical Record",
  "115": "Crypto Wallet",
};

/** Names of the other kinds, by code. */
export const kindNames: ReadonlyMap<string, string> = new Map(Object.entries(others));
