import type { Deps } from "../deps.ts";
import type { PublicKey } from "./key-ring.ts";

/** A JSON Web Key Set (RFC 7517) of signature keys. */
export interface JwkSetView {
  keys: (PublicKey & { use: "sig"; alg: "ES256" })[];
  /**
   * The public base addresses, the canonical one first. The service accepts machine tokens for each
   * of them.
   */
  base_urls: string[];
}

/**
 * GET /.well-known/jwks.json
 * The public keys of access tokens, newest first, and the service's own addresses: a machine checks
 * them before it spends its one-time token.
 */
export async function showJwks(deps: Deps): Promise<JwkSetView> {
  const { publicKeys } = await deps.keys.present();
  return {
    keys: publicKeys.map((key) => ({ ...key, use: "sig", alg: "ES256" })),
    base_urls: deps.config.COFFER_BASE_URL,
  };
}
