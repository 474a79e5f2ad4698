import type { HolderId } from "@coffer/history";
import { personPrivateKey, personPublicKey } from "../own-key.ts";
import type { PersonSession } from "../person-session.ts";

/** The caller as histories name it. */
export interface Self {
  who: HolderId;
  /** base64 of the SPKI DER. */
  publicKey: string;
  /** PKCS#8 DER: opens what was sealed to the public key, and signs. */
  privateKey(): Promise<Uint8Array>;
}

/** A person with the public key of the private key that the session holds, whatever the service says of it. */
export async function personSelf(session: PersonSession): Promise<Self> {
  return {
    who: `user:${session.user.id}`,
    publicKey: await personPublicKey(session),
    privateKey: () => personPrivateKey(session),
  };
}
