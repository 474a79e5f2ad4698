import { ServiceError } from "@coffer/errors";

/** The error for a token of an ended session. */
export function sessionEnded(): ServiceError {
  return new ServiceError("invalid_token", "the session of this token has ended: log in again");
}
