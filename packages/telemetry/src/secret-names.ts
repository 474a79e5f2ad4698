const exactly = new Set([
  "body",
  "codeverifier",
  "dek",
  "ddapikey",
  "notation",
  "otp",
  "otpauthurl",
  "proof",
  "query",
  "rawbody",
  "recoverycodes",
  "recoverykey",
  "registrationrecord",
  "secwebsocketprotocol",
  "seed",
  "serverstate",
  "signature",
  "stripesignature",
  "title",
  "urlquery",
]);
const beginnings = /^(encrypted|wrapped)/;
const endings =
  /(encrypted|password|passphrase|secrets?|token|cookie|authorization|credentials?|apikey|privatekey|privatejwk|ciphertext|payload|plaintext)$/;

const known = new Map<string, boolean>();
const mostRemembered = 2000;

/**
 * Whether a field of this name holds something that no log, span or metric may show: credentials, ciphertext, wrapped
 * keys, plaintext that a client chose. Case, `-`, `_` and `.` do not matter. What is public by nature (`public_key`,
 * `kid`, ids) is not secret.
 */
export function isSecretName(name: string): boolean {
  let secret = known.get(name);
  if (secret === undefined) {
    const plain = name.toLowerCase().replace(/[-_.\s]/g, "");
    secret = exactly.has(plain) || beginnings.test(plain) || endings.test(plain);
    if (known.size < mostRemembered) known.set(name, secret);
  }
  return secret;
}
