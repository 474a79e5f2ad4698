import { decodeBase64Url, encodeBase64Url } from "./base64.ts";
import { CryptoError } from "./crypto-error.ts";
import { derive } from "./derive.ts";
import { keyBytes, newKey } from "./keys.ts";
import { sha256Hex } from "./sha256.ts";

export const recoveryKeyPrefix = "cfr1_";

/** The values that are derived from a recovery key. */
export interface RecoveryKey {
  /** `proof`: base64url of 32 bytes, sent when the password is lost. */
  proof: string;
  /** `proof_hash`: hex SHA-256 of the 32 bytes of the proof, stored by the server. */
  proofHash: string;
  /**
   * Seals the user key a second time, with the context of the user key. The server never has it.
   */
  wrapKey: Uint8Array<ArrayBuffer>;
}

/** A new recovery key, as the text that is printed once: `cfr1_` and 43 base64url characters. */
export function newRecoveryKey(): string {
  return recoveryKeyPrefix + encodeBase64Url(newKey());
}

/**
 * Parses the recovery key that a person typed.
 * @throws CryptoError `invalid_recovery_key`
 */
export async function readRecoveryKey(text: string): Promise<RecoveryKey> {
  const key = readKey(text);
  const proof = await derive(key, "coffer/recovery/auth/v1");
  return {
    proof: encodeBase64Url(proof),
    proofHash: await sha256Hex(proof),
    wrapKey: await derive(key, "coffer/recovery/wrap/v1"),
  };
}

function readKey(text: string): Uint8Array {
  if (text.startsWith(recoveryKeyPrefix)) {
    try {
      const key = decodeBase64Url(text.slice(recoveryKeyPrefix.length));
      if (key.length === keyBytes) return key;
    } catch {
      // Falls through to the one message about the whole text.
    }
  }
  throw new CryptoError(
    "invalid_recovery_key",
    `not a recovery key: it is ${recoveryKeyPrefix} and 43 characters of A-Z a-z 0-9 - _`,
  );
}
