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
const prefixes = /^(encrypted|wrapped)/;
const endings =
  /(encrypted|password|passphrase|secrets?|token|cookie|authorization|credentials?|apikey|privatekey|privatejwk|ciphertext|payload|plaintext)$/;

const known = new Map<string, boolean>();
const mostRemembered = 2000;

/**
 * Whether a field of this name must not be in a log, span or metric: credentials, ciphertext, wrapped
 * keys, a client's plaintext. Ignores case, `-`, `_` and `.`. Public values (`public_key`, `kid`, ids)
 * are not secret.
 */
export function isSecretName(name: string): boolean {
  let secret = known.get(name);
  if (secret === undefined) {
    const plain = name.toLowerCase().replace(/[-_.\s]/g, "");
    secret = exactly.has(plain) || prefixes.test(plain) || endings.test(plain);
    if (known.size < mostRemembered) known.set(name, secret);
  }
  return secret;
}
