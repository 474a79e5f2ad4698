import { contexts, decodeBase64, unboxBound } from "@coffer/crypto";
import type { HolderId } from "@coffer/history";
import type { PersonSession } from "../person-session.ts";

/** The caller as histories name it. */
export interface Self {
  who: HolderId;
  /** base64 of the SPKI DER. */
  publicKey: string;
  /** PKCS#8 DER: opens what was sealed to the public key, and signs. */
  privateKey(): Promise<Uint8Array>;
}

export function personSelf(session: PersonSession): Self {
  return {
    who: `user:${session.user.id}`,
    publicKey: session.public_key,
    privateKey: () => unboxBound(decodeBase64(session.user_key), session.encrypted_private_key, contexts.privateKey()),
  };
}
