import { calculateJwkThumbprint, exportJWK, generateKeyPair } from "jose";

/** The public half on P-256, as in a JSON Web Key Set (RFC 7517). */
export interface PublicJwk {
  kty: "EC";
  crv: "P-256";
  x: string;
  y: string;
  kid: string;
}

/** A key pair that signs people's access tokens; `privateJwk` can forge every session. */
export interface SigningKey {
  /** The thumbprint of the public key (RFC 7638). */
  kid: string;
  privateJwk: PublicJwk & { d: string };
  publicJwk: PublicJwk;
}

/** Makes a new P-256 key pair. */
export async function generateSigningKey(): Promise<SigningKey> {
  const { privateKey } = await generateKeyPair("ES256", { extractable: true });
  const { x, y, d } = await exportJWK(privateKey);
  if (x === undefined || y === undefined || d === undefined) throw new TypeError("ES256 keys have x, y and d");
  const kid = await calculateJwkThumbprint({ kty: "EC", crv: "P-256", x, y });
  const publicJwk: PublicJwk = { kty: "EC", crv: "P-256", x, y, kid };
  return { kid, privateJwk: { ...publicJwk, d }, publicJwk };
}
