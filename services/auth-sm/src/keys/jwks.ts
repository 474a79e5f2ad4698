import type { Deps } from "../deps.ts";
import type { PublicKey } from "./key-ring.ts";

/** A JSON Web Key Set (RFC 7517) of signature keys. */
export interface JwkSetView {
  keys: (PublicKey & { use: "sig"; alg: "ES256" })[];
}

/** GET /.well-known/jwks.json: the public keys that verify people's access tokens, the newest first. */
export async function showJwks(deps: Deps): Promise<JwkSetView> {
  const { publicKeys } = await deps.keys.present();
  return { keys: publicKeys.map((key) => ({ ...key, use: "sig", alg: "ES256" })) };
}
