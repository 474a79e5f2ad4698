import { createECDH, createHash, createPrivateKey, type KeyObject } from "node:crypto";

/** Bytes that look random and are equal in every run: SHA-256 of a label and a counter. */
export function bytes(label: string, length: number): Buffer {
  const blocks: Buffer[] = [];
  for (let index = 0; index * 32 < length; index += 1) {
    blocks.push(createHash("sha256").update(`coffer test vector/${label}/${index}`).digest());
  }
  return Buffer.concat(blocks).subarray(0, length);
}

/** A UUID of version 7 from such bytes. */
export function uuid(label: string): string {
  const random = bytes(`uuid/${label}`, 10).toString("hex");
  return `01900000-0000-7${random.slice(0, 3)}-a${random.slice(3, 6)}-${random.slice(6, 18)}`;
}

/** A `uid` of a secret from such bytes. */
export function uid(label: string): string {
  return bytes(`uid/${label}`, 16).toString("base64url").replace(/^-/, "_");
}

export interface VectorKeyPair {
  scalar: Buffer;
  /** 0x04 ‖ x ‖ y. */
  point: Buffer;
  spki: Buffer;
  pkcs8: Buffer;
  privateKey: KeyObject;
  jwk: { kty: "EC"; crv: "P-256"; x: string; y: string };
}

/** The prefix of the SPKI of every P-256 key. */
export const spkiHeader = Buffer.from("3059301306072a8648ce3d020106082a8648ce3d030107034200", "hex");

/** A P-256 key pair whose scalar is such bytes. */
export function keyPair(label: string): VectorKeyPair {
  const scalar = bytes(`key/${label}`, 32);
  const ecdh = createECDH("prime256v1");
  ecdh.setPrivateKey(scalar);
  const point = ecdh.getPublicKey();
  const jwk = {
    kty: "EC",
    crv: "P-256",
    x: point.subarray(1, 33).toString("base64url"),
    y: point.subarray(33).toString("base64url"),
  } as const;
  const privateKey = createPrivateKey({ key: { ...jwk, d: scalar.toString("base64url") }, format: "jwk" });
  return {
    scalar,
    point,
    spki: Buffer.concat([spkiHeader, point]),
    pkcs8: privateKey.export({ format: "der", type: "pkcs8" }),
    privateKey,
    jwk,
  };
}

/** Flips the lowest bit of one byte; a negative index counts from the end. */
export function flip(original: Uint8Array, index: number): Buffer {
  const changed = Buffer.from(original);
  const at = index < 0 ? changed.length + index : index;
  changed[at] = (changed[at] ?? 0) ^ 1;
  return changed;
}
