import { generateKeyPairSync, type KeyObject } from "node:crypto";

/** Public keys in the forms that a careless or hostile client may send. */
const forms = {
  spki: () => der(p256()).toString("base64"),
  point: () => point().toString("base64"),
  compressed_point: () => compressed(point()).toString("base64"),
  compressed_spki: () => withPoint(compressed(point())).toString("base64"),
  explicit_parameters: () =>
    der(generateKeyPairSync("ec", { namedCurve: "P-256", paramEncoding: "explicit" }).publicKey).toString("base64"),
  trailing_byte: () => Buffer.concat([der(p256()), Buffer.from([0])]).toString("base64"),
  long_length: () => longLength(der(p256())).toString("base64"),
  off_curve: () => withPoint(flipped(point())).toString("base64"),
  infinity: () => withPoint(Buffer.from([0])).toString("base64"),
  p384: () => der(generateKeyPairSync("ec", { namedCurve: "P-384" }).publicKey).toString("base64"),
  secp256k1: () => der(generateKeyPairSync("ec", { namedCurve: "secp256k1" }).publicKey).toString("base64"),
  ed25519: () => der(generateKeyPairSync("ed25519").publicKey).toString("base64"),
  rsa: () => der(generateKeyPairSync("rsa", { modulusLength: 2048 }).publicKey).toString("base64"),
  pem: () => p256().export({ type: "spki", format: "pem" }).toString(),
  jwk: () => JSON.stringify(p256().export({ format: "jwk" })),
  private_key: () =>
    generateKeyPairSync("ec", { namedCurve: "P-256" })
      .privateKey.export({ type: "pkcs8", format: "der" })
      .toString("base64"),
  base64url: () => urlAlphabet(),
} satisfies Record<string, () => string>;

export type PublicKeyForm = keyof typeof forms;

/** A new public key in this form. Throws a TypeError for an unknown form. */
export function publicKeyIn(form: string): string {
  if (!Object.hasOwn(forms, form)) throw new TypeError(`there is no form of a public key called ${form}`);
  return forms[form as PublicKeyForm]();
}

const pointBytes = 65;

function p256(): KeyObject {
  return generateKeyPairSync("ec", { namedCurve: "P-256" }).publicKey;
}

function der(key: KeyObject): Buffer {
  return key.export({ type: "spki", format: "der" });
}

function point(): Buffer {
  return der(p256()).subarray(-pointBytes);
}

function compressed(whole: Buffer): Buffer {
  return Buffer.concat([Buffer.from([2 + ((whole.at(-1) ?? 0) & 1)]), whole.subarray(1, 33)]);
}

function flipped(whole: Buffer): Buffer {
  const changed = Buffer.from(whole);
  changed[pointBytes - 1] = (changed[pointBytes - 1] ?? 0) ^ 1;
  return changed;
}

/** A SubjectPublicKeyInfo on P-256 with these bytes as its point. */
function withPoint(bytes: Buffer): Buffer {
  const algorithm = der(p256()).subarray(2, 23);
  const bits = Buffer.concat([Buffer.from([0x03, bytes.length + 1, 0x00]), bytes]);
  return Buffer.concat([Buffer.from([0x30, algorithm.length + bits.length]), algorithm, bits]);
}

/** The same key with the outer length in two bytes, which BER allows and DER does not. */
function longLength(spki: Buffer): Buffer {
  return Buffer.concat([Buffer.from([0x30, 0x81, spki.length - 2]), spki.subarray(2)]);
}

/** A canonical key in base64url with at least one character that differs from base64. */
function urlAlphabet(): string {
  for (;;) {
    const text = der(p256()).toString("base64");
    if (/[+/]/.test(text)) return text.replaceAll("+", "-").replaceAll("/", "_");
  }
}
