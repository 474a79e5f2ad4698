import { createHash, hkdfSync } from "node:crypto";
import { bytes } from "./material.ts";
import type { AccessTokenVector, DerivationVector, RecoveryKeyVector, VectorFile } from "./shapes.ts";

function hkdf(secret: Buffer, info: string): Buffer {
  return Buffer.from(hkdfSync("sha256", secret, "", info, 32));
}

function sha256Hex(data: Buffer | string): string {
  return createHash("sha256").update(data).digest("hex");
}

/** HKDF as it is used everywhere: SHA-256, no salt, 32 bytes. */
export function derivationVectors(): VectorFile<DerivationVector> {
  const derived = (name: string, secret: Buffer, info: string): DerivationVector => {
    return { name, error: null, secret: secret.toString("hex"), info, key: hkdf(secret, info).toString("hex") };
  };
  return {
    about: "HKDF (RFC 5869) with SHA-256, no salt, 32 bytes: (secret, info) to key",
    vectors: [
      derived("OPAQUE's export key to the key that seals the user key", bytes("export key", 64), "coffer/v1/user-key"),
      derived("the seed of a one-time token to what is sent", bytes("seed", 32), "coffer/ott/auth/v1"),
      derived("the seed of a one-time token to its wrap key", bytes("seed", 32), "coffer/ott/wrap/v1"),
      derived("the seed of an invitation to what is sent", bytes("invite seed", 32), "coffer/invite/auth/v1"),
      derived("the seed of an invitation to its wrap key", bytes("invite seed", 32), "coffer/invite/wrap/v1"),
      derived("a recovery key to its proof", bytes("recovery", 32), "coffer/recovery/auth/v1"),
      derived("a recovery key to its wrap key", bytes("recovery", 32), "coffer/recovery/wrap/v1"),
    ],
  };
}

/** Texts that must not be read as `prefix` and 32 bytes. */
function wrongTexts(prefix: string, otherPrefix: string, seed: Buffer): [name: string, text: string][] {
  const body = seed.toString("base64url");
  // 43 characters have 258 bits for 256: two bits of the last one must be zero.
  const overhang = `${body.slice(0, -1)}${String.fromCharCode(body.charCodeAt(42) + 1)}`;
  return [
    ["nothing", ""],
    ["the prefix alone", prefix],
    ["no prefix", body],
    ["the prefix of the other kind", otherPrefix + body],
    ["the prefix in upper case", prefix.toUpperCase() + body],
    ["a later version", prefix.replace("1", "2") + body],
    ["31 bytes", prefix + seed.subarray(1).toString("base64url")],
    ["33 bytes", prefix + Buffer.concat([seed, Buffer.of(0)]).toString("base64url")],
    ["padding", `${prefix}${body}=`],
    ["characters of base64", `${prefix}+/${body.slice(2)}`],
    ["a line end after it", `${prefix}${body}\n`],
    ["a space before it", ` ${prefix}${body}`],
    ["set bits after the end", prefix + overhang],
  ];
}

/** The text of a one-time token: from the shown text to the sent value and the sealing key. */
function oneTimeVectors(
  kind: { prefix: string; other: string; purpose: string; error: AccessTokenVector["error"] },
  named: readonly [name: string, seed: Buffer][],
): AccessTokenVector[] {
  const { prefix, other, purpose, error } = kind;
  const read = ([name, seed]: readonly [string, Buffer]): AccessTokenVector => {
    const token = hkdf(seed, `coffer/${purpose}/auth/v1`).toString("base64url");
    const wrapKey = hkdf(seed, `coffer/${purpose}/wrap/v1`).toString("hex");
    const text = prefix + seed.toString("base64url");
    return { name, error: null, text, token, token_hash: sha256Hex(token), wrap_key: wrapKey };
  };
  const refused = ([name, text]: [string, string]): AccessTokenVector => {
    return { name, error, text, token: null, token_hash: null, wrap_key: null };
  };
  return [...named.map(read), ...wrongTexts(prefix, other, Buffer.alloc(32)).map(refused)];
}

const zeros: [string, Buffer] = ["a seed of zeros", Buffer.alloc(32)];
const ones: [string, Buffer] = ["a seed of ones", Buffer.alloc(32, 0xff)];

/** One-time access tokens of machines. */
export function accessTokenVectors(): VectorFile<AccessTokenVector> {
  const kind = { prefix: "cft1_", other: "cfr1_", purpose: "ott", error: "invalid_access_token" } as const;
  return {
    about:
      "One-time access tokens: cft1_ and base64url of the 32-byte seed. token_hash is over the characters of token",
    vectors: oneTimeVectors(kind, [["a token", bytes("seed", 32)], zeros, ones]),
  };
}

/** Invitations of persons into an organization. */
export function inviteTokenVectors(): VectorFile<AccessTokenVector> {
  const kind = { prefix: "cfi1_", other: "cft1_", purpose: "invite", error: "invalid_invite_token" } as const;
  return {
    about: "Invitations: cfi1_ and base64url of the 32-byte seed. token_hash is over the characters of token",
    vectors: oneTimeVectors(kind, [["an invitation", bytes("invite seed", 32)], zeros, ones]),
  };
}

/** Recovery keys: from the printed text to the sent value and the sealing key. */
export function recoveryKeyVectors(): VectorFile<RecoveryKeyVector> {
  const read = (name: string, key: Buffer): RecoveryKeyVector => {
    const proof = hkdf(key, "coffer/recovery/auth/v1");
    const given = { name, error: null, text: `cfr1_${key.toString("base64url")}`, proof: proof.toString("base64url") };
    return { ...given, proof_hash: sha256Hex(proof), wrap_key: hkdf(key, "coffer/recovery/wrap/v1").toString("hex") };
  };
  const refused = ([name, text]: [string, string]): RecoveryKeyVector => {
    return { name, error: "invalid_recovery_key", text, proof: null, proof_hash: null, wrap_key: null };
  };
  return {
    about: "Recovery keys: cfr1_ and base64url of 32 bytes. proof_hash is over the 32 bytes of the proof",
    vectors: [
      read("a recovery key", bytes("recovery", 32)),
      read("a key of zeros", Buffer.alloc(32)),
      read("a key of ones", Buffer.alloc(32, 0xff)),
      ...wrongTexts("cfr1_", "cft1_", Buffer.alloc(32)).map(refused),
    ],
  };
}
