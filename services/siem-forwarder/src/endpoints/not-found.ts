import { ServiceError } from "@coffer/errors";

/** The organization has no endpoint with this id, whether or not another one has. */
export function endpointNotFound(): ServiceError {
  return new ServiceError("not_found", "the organization has no SIEM endpoint with this id");
}
