/** Fields of an item, by Bitwarden's names and by ours. */
export type FieldNames = readonly (readonly [theirs: string, ours: string])[];

export const cardFields: FieldNames = [
  ["cardholderName", "cardholder_name"],
  ["brand", "brand"],
  ["number", "number"],
  ["expMonth", "exp_month"],
  ["expYear", "exp_year"],
  ["code", "code"],
];

export const identityFields: FieldNames = [
  ["title", "title"],
  ["firstName", "first_name"],
  ["middleName", "middle_name"],
  ["lastName", "last_name"],
  ["address1", "address_1"],
  ["address2", "address_2"],
  ["address3", "address_3"],
  ["city", "city"],
  ["state", "state"],
  ["postalCode", "postal_code"],
  ["country", "country"],
  ["company", "company"],
  ["email", "email"],
  ["phone", "phone"],
  ["ssn", "ssn"],
  ["username", "username"],
  ["passportNumber", "passport_number"],
  ["licenseNumber", "license_number"],
];

export const sshKeyFields: FieldNames = [
  ["privateKey", "private_key"],
  ["publicKey", "public_key"],
  ["keyFingerprint", "fingerprint"],
];

export const passkeyFields: FieldNames = [
  ["credentialId", "credential_id"],
  ["keyType", "key_type"],
  ["keyAlgorithm", "key_algorithm"],
  ["keyCurve", "key_curve"],
  ["keyValue", "private_key"],
  ["rpId", "rp_id"],
  ["userHandle", "user_handle"],
  ["userName", "username"],
  ["counter", "counter"],
  ["rpName", "rp_name"],
  ["userDisplayName", "user_display_name"],
  ["discoverable", "discoverable"],
  ["creationDate", "created"],
];

/** Match rules of addresses: Bitwarden's numbers, our words. */
export const uriMatches: readonly (readonly [number, string])[] = [
  [0, "domain"],
  [1, "host"],
  [2, "starts_with"],
  [3, "exact"],
  [4, "regular_expression"],
  [5, "never"],
];

/** Targets of linked custom fields: Bitwarden's numbers, our field names. */
export const linkedFields: readonly (readonly [number, string])[] = [
  [100, "username"],
  [101, "password"],
  [300, "cardholder_name"],
  [301, "exp_month"],
  [302, "exp_year"],
  [303, "code"],
  [304, "brand"],
  [305, "number"],
  [400, "title"],
  [401, "middle_name"],
  [402, "address_1"],
  [403, "address_2"],
  [404, "address_3"],
  [405, "city"],
  [406, "state"],
  [407, "postal_code"],
  [408, "country"],
  [409, "company"],
  [410, "email"],
  [411, "phone"],
  [412, "ssn"],
  [413, "username"],
  [414, "passport_number"],
  [415, "license_number"],
  [416, "first_name"],
  [417, "last_name"],
  [418, "full_name"],
];

/** The numbers of kinds of items that both sides know. */
export const itemTypes = { login: 1, secureNote: 2, card: 3, identity: 4, sshKey: 5 } as const;

/** The numbers of kinds of custom fields. */
export const customTypes = { text: 0, hidden: 1, boolean: 2, linked: 3 } as const;
