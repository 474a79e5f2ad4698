import { CofferError } from "@coffer/sdk/errors";

/** The exit codes of the command, which scripts rely on. */
export const exitCodes = {
  failure: 1,
  usage: 2,
  notAuthenticated: 3,
  denied: 4,
  notFound: 5,
  rateLimited: 6,
  network: 7,
} as const;

/** The command's own error with its exit code. `message` is for a person and contains no secret. */
export class Failure extends Error {
  readonly exitCode: number;

  constructor(exitCode: number, message: string) {
    super(message);
    this.name = "Failure";
    this.exitCode = exitCode;
  }
}

/** A wrong use of the command: exit 2. */
export function usage(message: string): Failure {
  return new Failure(exitCodes.usage, message);
}

/** The exit code for anything that a command can throw. */
export function exitCodeFor(error: unknown): number {
  if (error instanceof Failure) return error.exitCode;
  if (!(error instanceof CofferError)) return exitCodes.failure;
  switch (error.code) {
    case "invalid_token":
    case "invalid_credentials":
    case "otp_required":
    case "reauth_required":
    case "token_reused":
      return exitCodes.notAuthenticated;
    case "access_denied":
    case "plan_required":
    case "registration_closed":
    case "quota_exceeded":
    case "no_key":
    case "holder_unconfirmed":
    case "key_pending":
    case "no_history":
    case "not_accepted":
      return exitCodes.denied;
    case "secret_not_found":
    case "not_found":
      return exitCodes.notFound;
    case "rate_limited":
      return exitCodes.rateLimited;
    case "network":
    case "unavailable":
      return exitCodes.network;
    case "invalid_request":
    case "configuration":
    case "name_ambiguous":
      return exitCodes.usage;
    case "conflict":
    case "precondition_failed":
    case "payload_too_large":
    case "internal_error":
    case "bad_answer":
    case "not_decrypted":
    case "history_invalid":
    case "signer_removed":
    case "history_rolled_back":
    case "history_forked":
    case "join_invalid":
    case "key_mismatch":
    case "key_rolled_back":
    case "keyring_missing":
    case "keyring_rolled_back":
      return exitCodes.failure;
  }
}
