import { derElement, derElements, derInteger } from "./der.ts";

export type KeyAlgorithm = "rsa" | "ec" | "dsa" | "other";

/** A decoded private key. */
export interface PrivateKey {
  algorithm: KeyAlgorithm;
  encrypted: boolean;
  /** The bytes that identify the key, the DER of a PEM block. */
  bytes: Uint8Array;
}

const algorithms: ReadonlyMap<string, KeyAlgorithm> = new Map([
  ["2a864886f70d010101", "rsa"], // rsaEncryption
  ["2a864886f70d01010a", "rsa"], // RSASSA-PSS
  ["2a8648ce3d0201", "ec"],
  ["2a8648ce380401", "dsa"],
]);
const [integer, octets, oid, sequence] = [0x02, 0x04, 0x06, 0x30];
/** No encrypted key of another algorithm is so large. */
const leastEncryptedRsa = 400;

/** PKCS#1: nine integers, of which the modulus is the product of the two primes. */
export function isRsaKey(bytes: Uint8Array): boolean {
  const outer = derElement(bytes);
  const parts = outer?.tag === sequence ? derElements(outer.content) : null;
  if (parts === null || parts.length < 9 || parts.slice(0, 9).some(({ tag }) => tag !== integer)) return false;
  const [, modulus, , , first, second] = parts.map(derInteger);
  return (
    modulus !== undefined &&
    first !== undefined &&
    second !== undefined &&
    modulus > 2n ** 256n &&
    modulus === first * second
  );
}

/** A key in the form of its vendor's algorithm: `RSA`, `EC`, `DSA PRIVATE KEY`. Null for a placeholder. */
export function traditionalKey(algorithm: KeyAlgorithm, bytes: Uint8Array): PrivateKey | null {
  if (algorithm === "rsa") return isRsaKey(bytes) ? { algorithm, encrypted: false, bytes } : null;
  const outer = derElement(bytes);
  const parts = outer?.tag === sequence ? derElements(outer.content) : null;
  return parts === null || parts.length < 2 || parts[0]?.tag !== integer
    ? null
    : { algorithm, encrypted: false, bytes };
}

/** PKCS#8: a version, the algorithm, and the key inside. */
export function pkcs8Key(bytes: Uint8Array): PrivateKey | null {
  const outer = derElement(bytes);
  const parts = outer?.tag === sequence ? derElements(outer.content) : null;
  const [version, algorithm, key] = parts ?? [];
  if (version?.tag !== integer || algorithm?.tag !== sequence || key?.tag !== octets) return null;
  const [name] = derElements(algorithm.content) ?? [];
  if (name?.tag !== oid) return null;
  const found = algorithms.get(Buffer.from(name.content).toString("hex")) ?? "other";
  return found === "rsa" && !isRsaKey(key.content) ? null : { algorithm: found, encrypted: false, bytes };
}

/** PKCS#8 under a password. Its algorithm is not visible: only RSA keys are so large. */
export function encryptedPkcs8Key(bytes: Uint8Array): PrivateKey | null {
  const outer = derElement(bytes);
  const parts = outer?.tag === sequence ? derElements(outer.content) : null;
  const [algorithm, data] = parts ?? [];
  if (algorithm?.tag !== sequence || data?.tag !== octets) return null;
  return { algorithm: data.content.length >= leastEncryptedRsa ? "rsa" : "other", encrypted: true, bytes };
}

/** OpenSSH's own format, which names the algorithm in its public part. */
export function opensshKey(bytes: Uint8Array): PrivateKey | null {
  const buffer = Buffer.from(bytes);
  const magic = "openssh-key-v1\0";
  if (buffer.toString("latin1", 0, magic.length) !== magic) return null;
  const [cipher, , , , key] = sshStrings(buffer, magic.length);
  if (cipher === undefined || key === undefined) return null;
  const [name] = sshStrings(key, 0);
  const algorithm = name?.toString("latin1") === "ssh-rsa" ? "rsa" : "other";
  return { algorithm, encrypted: cipher.toString("latin1") !== "none", bytes };
}

/**
 * The first five strings of an OpenSSH key: cipher, derivation, its options, the number of keys as
 * an empty string, a key.
 */
function sshStrings(buffer: Buffer, start: number): Buffer[] {
  const strings: Buffer[] = [];
  for (let at = start; strings.length < 5 && at + 4 <= buffer.length;) {
    const length = strings.length === 3 ? 0 : buffer.readUInt32BE(at);
    if (at + 4 + length > buffer.length) break;
    strings.push(buffer.subarray(at + 4, at + 4 + length));
    at += 4 + length;
  }
  return strings;
}
