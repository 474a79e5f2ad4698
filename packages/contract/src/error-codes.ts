/**
 * Every error code of the interface, with its HTTP status. The set is closed: programs switch on
 * it. 401 is about identity only, 403 about authorization only.
 */
export const errorCodes = {
  invalid_request: 400,
  invalid_token: 401,
  invalid_credentials: 401,
  otp_required: 401,
  token_reused: 401,
  access_denied: 403,
  plan_required: 403,
  reauth_required: 403,
  registration_closed: 403,
  quota_exceeded: 403,
  secret_not_found: 404,
  not_found: 404,
  conflict: 409,
  precondition_failed: 412,
  payload_too_large: 413,
  rate_limited: 429,
  internal_error: 500,
  unavailable: 503,
} as const;

export type ErrorCode = keyof typeof errorCodes;

/** Whether a string from a response or a bus message is one of the codes. */
export function isErrorCode(value: unknown): value is ErrorCode {
  return typeof value === "string" && Object.hasOwn(errorCodes, value);
}

export function statusOf(code: ErrorCode): number {
  return errorCodes[code];
}
