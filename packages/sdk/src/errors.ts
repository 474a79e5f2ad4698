import type { ErrorCode } from "@coffer/contract";

/** The errors of signed histories that forbid the use of a key. docs/histories.md explains each. */
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
 * Client-side codes: `network` (no response), `bad_answer` (a response that violates the
 * interface), `not_decrypted` (wrong key or altered ciphertext), `configuration` (an unusable
 * configuration or session), `no_key` (the folder's key was never sealed to this caller), and those
 * of histories.
 */
export type CofferErrorCode =
  ErrorCode | (typeof historyCodes)[number] | "network" | "bad_answer" | "not_decrypted" | "configuration" | "no_key";

export interface CofferErrorOptions {
  /** HTTP status of the answer, when there was one. */
  status?: number | undefined;
  foreign?: boolean | undefined;
  fromService?: boolean | undefined;
  requestId?: string | undefined;
  /** Whole seconds after which the same call may succeed. */
  retryAfterSeconds?: number | undefined;
  details?: { field: string; issue: string }[] | undefined;
  cause?: unknown;
}

/**
 * The only error of this package. `code` is closed and stable; `message` is for a person and
 * contains no secret.
 */
export class CofferError extends Error {
  readonly code: CofferErrorCode;
  readonly status: number | undefined;
  /**
   * Whether `code` is derived from the HTTP status alone: the response came from a proxy, for
   * instance, not from the service.
   */
  readonly foreign: boolean;
  /**
   * Whether `message` and `details` are the service's own words, which a person may not take for
   * the client's.
   */
  readonly fromService: boolean;
  readonly requestId: string | undefined;
  readonly retryAfterSeconds: number | undefined;
  readonly details: { field: string; issue: string }[] | undefined;

  constructor(code: CofferErrorCode, message: string, options: CofferErrorOptions = {}) {
    super(message, options.cause === undefined ? undefined : { cause: options.cause });
    this.name = "CofferError";
    this.code = code;
    this.status = options.status;
    this.foreign = options.foreign ?? false;
    this.fromService = options.fromService ?? false;
    this.requestId = options.requestId;
    this.retryAfterSeconds = options.retryAfterSeconds;
    this.details = options.details;
  }
}
