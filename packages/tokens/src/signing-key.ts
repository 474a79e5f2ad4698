import { calculateJwkThumbprint, exportJWK, generateKeyPair } from "jose";

/** A public key on P-256 as a JSON Web Key (RFC 7518 §6.2). */
export interface EcPublicJwk {
  kty: "EC";
  crv: "P-256";
  x: string;
  y: string;
}

/** A key pair that signs people's access tokens. `kid` is the thumbprint of the public key (RFC 7638). */
export interface SigningKey {
  kid: string;
  privateJwk: EcPublicJwk & { d: string };
  publicJwk: EcPublicJwk;
}

/** Makes a new P-256 key pair. */
export async function generateSigningKey(): Promise<SigningKey> {
  const { privateKey } = await generateKeyPair("ES256", { extractable: true });
  const { x, y, d } = await exportJWK(privateKey);
  if (x === undefined || y === undefined || d === undefined) throw new TypeError("ES256 keys have x, y and d");
  const publicJwk: EcPublicJwk = { kty: "EC", crv: "P-256", x, y };
  return { kid: await calculateJwkThumbprint(publicJwk), privateJwk: { ...publicJwk, d }, publicJwk };
}
