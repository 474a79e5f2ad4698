import type { Deps } from "../deps.ts";
import type { PublicKey } from "./key-ring.ts";

/** A JSON Web Key Set (RFC 7517) of signature keys. */
export interface JwkSetView {
  keys: (PublicKey & { use: "sig"; alg: "ES256" })[];
  /** The public base addresses, the canonical one first. A machine's token is accepted when it is for one of them. */
  base_urls: string[];
}

/**
 * GET /.well-known/jwks.json: the public keys that verify people's access tokens, the newest first; and the addresses
 * that the service knows as its own, so that a machine finds out before it spends its one-time token.
 */
export async function showJwks(deps: Deps): Promise<JwkSetView> {
  const { publicKeys } = await deps.keys.present();
  return {
    keys: publicKeys.map((key) => ({ ...key, use: "sig", alg: "ES256" })),
    base_urls: deps.config.COFFER_BASE_URL,
  };
}
