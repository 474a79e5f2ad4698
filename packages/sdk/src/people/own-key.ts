import {
  contexts,
  CryptoError,
  decodeBase64,
  type Fingerprint,
  fingerprint,
  publicKeyOf,
  unboxBound,
} from "@coffer/crypto";
import { CofferError } from "../errors.ts";
import type { MachineConfiguration } from "../machines/machine-configuration.ts";
import type { PersonSession } from "./person-session.ts";

/** The parts of a session that contain the person's private key. */
type SealedKey = Pick<PersonSession, "user_key" | "encrypted_private_key">;

/** A person's private key as PKCS#8 DER. Throws CryptoError when the user key does not open it. */
export function personPrivateKey({ user_key, encrypted_private_key }: SealedKey): Promise<Uint8Array> {
  return unboxBound(decodeBase64(user_key), encrypted_private_key, contexts.privateKey());
}

/**
 * A person's public key, computed from the session's private key: base64 of the SPKI DER. Throws
 * CofferError `bad_answer` when the user key does not open the private key.
 */
export async function personPublicKey(sealed: SealedKey): Promise<string> {
  try {
    return await publicKeyOf(await personPrivateKey(sealed));
  } catch (cause) {
    if (!(cause instanceof CryptoError)) throw cause;
    throw new CofferError("bad_answer", "the private key that the service gave does not open with your user key", {
      cause,
    });
  }
}

/**
 * The fingerprint of a person's own key, computed from the private key. Throws CofferError
 * `bad_answer`.
 */
export async function personFingerprint(sealed: SealedKey): Promise<Fingerprint> {
  return fingerprint(await personPublicKey(sealed));
}

/**
 * The fingerprint of a machine's own key, computed from the private key in its configuration.
 * Throws CofferError `configuration` when that is malformed, or the public key does not belong to
 * it.
 */
export async function machineFingerprint({
  private_key,
  public_key,
}: Pick<MachineConfiguration, "private_key" | "public_key">): Promise<Fingerprint> {
  let own: string;
  try {
    own = await publicKeyOf(decodeBase64(private_key));
  } catch (cause) {
    if (!(cause instanceof CryptoError)) throw cause;
    throw new CofferError("configuration", "not a machine's configuration: `private_key` is no private key", { cause });
  }
  if (own !== public_key)
    throw new CofferError(
      "configuration",
      "not a machine's configuration: `public_key` does not belong to `private_key`",
    );
  return fingerprint(own);
}
