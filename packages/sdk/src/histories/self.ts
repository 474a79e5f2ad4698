import type { HolderId } from "@coffer/history";
import { personPrivateKey, personPublicKey } from "../people/own-key.ts";
import type { PersonSession } from "../people/person-session.ts";

/** The caller in the form of histories. */
export interface Self {
  who: HolderId;
  /** base64 of the SPKI DER. */
  publicKey: string;
  /** PKCS#8 DER: opens values that were sealed to the public key, and signs. */
  privateKey(): Promise<Uint8Array>;
}

/**
 * A person, with the public key computed from the session's private key instead of the service's
 * answer.
 */
export async function personSelf(session: PersonSession): Promise<Self> {
  return {
    who: `user:${session.user.id}`,
    publicKey: await personPublicKey(session),
    privateKey: () => personPrivateKey(session),
  };
}
