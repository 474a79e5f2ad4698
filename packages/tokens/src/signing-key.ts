import type { JWK } from "jose";
import { calculateJwkThumbprint, exportJWK, generateKeyPair } from "jose";

/** A key pair that signs people's access tokens. `kid` is the thumbprint of the public key (RFC 7638). */
export interface SigningKey {
  kid: string;
  privateJwk: JWK;
  publicJwk: JWK;
}

/** Makes a new P-256 key pair. */
export async function generateSigningKey(): Promise<SigningKey> {
  const { privateKey, publicKey } = await generateKeyPair("ES256", { extractable: true });
  const publicJwk = await exportJWK(publicKey);
  const kid = await calculateJwkThumbprint(publicJwk);
  return { kid, privateJwk: await exportJWK(privateKey), publicJwk: { ...publicJwk, kid, use: "sig", alg: "ES256" } };
}
