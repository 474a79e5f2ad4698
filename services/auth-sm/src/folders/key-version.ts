import { ServiceError } from "@coffer/errors";

/**
 * Refuses a value that was encrypted with another key than the folder's current one.
 * @param sent the `key_version` of the body; undefined when the client did not send one
 * @throws ServiceError `conflict`
 */
export function requireKeyVersion(sent: number | undefined, present: number): void {
  if (sent !== undefined && sent !== present) {
    throw new ServiceError(
      "conflict",
      `encrypted with key version ${sent}, but the folder has ${present}: fetch the current key and encrypt again`,
    );
  }
}
