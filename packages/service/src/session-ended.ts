import { ServiceError } from "@coffer/errors";

/** What a token of a session that has ended is answered, wherever that is noticed. */
export function sessionEnded(): ServiceError {
  return new ServiceError("invalid_token", "the session of this token has ended: log in again");
}
