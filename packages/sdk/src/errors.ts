/** The codes of the interface, as the server answers them, and those that only a client can meet. */
const serverCodes = [
  "invalid_request",
  "invalid_token",
  "invalid_credentials",
  "otp_required",
  "token_reused",
  "access_denied",
  "plan_required",
  "reauth_required",
  "registration_closed",
  "quota_exceeded",
  "secret_not_found",
  "not_found",
  "conflict",
  "precondition_failed",
  "payload_too_large",
  "rate_limited",
  "internal_error",
  "unavailable",
] as const;

/** What a signed history says against the use of a key. docs/histories.md says what to do about each. */
export const historyCodes = [
  "history_invalid",
  "signer_removed",
  "history_rolled_back",
  "history_forked",
  "join_invalid",
  "key_mismatch",
  "key_rolled_back",
  "holder_unconfirmed",
  "key_pending",
  "no_history",
  "not_accepted",
  "name_ambiguous",
  "keyring_missing",
  "keyring_rolled_back",
] as const;

/**
 * Client-side codes: `network` (no answer), `bad_answer` (an answer that is not the interface's), `not_decrypted`
 * (wrong key or altered ciphertext), `configuration` (a configuration or session that cannot be used), `no_key` (the
 * folder's key was never sealed to this caller), and those of histories.
 */
export type CofferErrorCode =
  | (typeof serverCodes)[number]
  | (typeof historyCodes)[number]
  | "network"
  | "bad_answer"
  | "not_decrypted"
  | "configuration"
  | "no_key";

export interface CofferErrorOptions {
  /** HTTP status of the answer, when there was one. */
  status?: number | undefined;
  foreign?: boolean | undefined;
  requestId?: string | undefined;
  /** Whole seconds after which the same call may succeed. */
  retryAfterSeconds?: number | undefined;
  details?: { field: string; issue: string }[] | undefined;
  cause?: unknown;
}

/** The one error this package throws. `code` is closed and stable; `message` is for a person and holds no secret. */
export class CofferError extends Error {
  readonly code: CofferErrorCode;
  readonly status: number | undefined;
  /** Whether `code` is only what the HTTP status means: the answer was not the service's own, but a proxy's, say. */
  readonly foreign: boolean;
  readonly requestId: string | undefined;
  readonly retryAfterSeconds: number | undefined;
  readonly details: { field: string; issue: string }[] | undefined;

  constructor(code: CofferErrorCode, message: string, options: CofferErrorOptions = {}) {
    super(message, options.cause === undefined ? undefined : { cause: options.cause });
    this.name = "CofferError";
    this.code = code;
    this.status = options.status;
    this.foreign = options.foreign ?? false;
    this.requestId = options.requestId;
    this.retryAfterSeconds = options.retryAfterSeconds;
    this.details = options.details;
  }
}

/** Whether a string found in an answer is one of the server's codes. */
export function isServerCode(value: unknown): value is (typeof serverCodes)[number] {
  return serverCodes.includes(value as (typeof serverCodes)[number]);
}
