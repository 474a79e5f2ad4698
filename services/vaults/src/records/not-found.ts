import { ServiceError } from "@coffer/errors";

/** No such record in a vault that the caller sees. */
export function recordNotFound(): ServiceError {
  return new ServiceError("not_found", "record not found");
}
