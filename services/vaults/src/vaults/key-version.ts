import { ServiceError } from "@coffer/errors";

/**
 * Refuses data that was sealed with another key than the vault's present one.
 * @param sent the `key_version` of the body; undefined if the client did not send one
 * @throws ServiceError `conflict`
 */
export function requireKeyVersion(sent: number | undefined, present: number): void {
  if (sent !== undefined && sent !== present) {
    throw new ServiceError(
      "conflict",
      `sealed with key version ${sent}, but the vault has version ${present}: fetch the present key and seal again`,
    );
  }
}
