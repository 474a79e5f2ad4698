/**
 * The error codes of this package. The set is closed: programs switch on it.
 *
 * - `invalid_input`: an argument has the wrong shape (an id, a name, a base64 text, a piece of text).
 * - `invalid_key`: a key has the wrong length or form, or is not on P-256.
 * - `decryption_failed`: wrong key, or the ciphertext was altered or belongs somewhere else.
 * - `context_mismatch`: it was sealed to this key, but as something else.
 * - `invalid_plaintext`: the decrypted value has the wrong form.
 * - `invalid_access_token`, `invalid_invite_token`, `invalid_recovery_key`: not the text that a
 *   person was shown.
 * - `login_failed`: wrong password, or an answer that the account's own server did not make.
 * - `invalid_server_answer`: the OPAQUE message cannot be read.
 * - `weak_key_stretching`: a caller tried to choose the key stretching.
 */
export type CryptoErrorCode =
  | "invalid_input"
  | "invalid_key"
  | "decryption_failed"
  | "context_mismatch"
  | "invalid_plaintext"
  | "invalid_access_token"
  | "invalid_invite_token"
  | "invalid_recovery_key"
  | "login_failed"
  | "invalid_server_answer"
  | "weak_key_stretching";

/**
 * The only error of this package. Its message never quotes keys, passwords, plaintexts or
 * ciphertexts. The platform's errors are dropped because some of them do.
 */
export class CryptoError extends Error {
  readonly code: CryptoErrorCode;

  constructor(code: CryptoErrorCode, message: string) {
    super(message);
    this.name = "CryptoError";
    this.code = code;
  }
}
