import { ServiceError } from "@coffer/errors";
import type { SecretReceipt } from "./view.ts";
import { secretTag } from "./view.ts";

/**
 * Requires that a secret is still what the caller has read. `expected` is what `If-Match` said: a version, the entity tag
 * of a read, or `*`.
 * @throws ServiceError `precondition_failed`
 */
export function requireVersion(expected: string | undefined, present: SecretReceipt): void {
  const allowed = [undefined, "*", String(present.version), secretTag(present)];
  if (!allowed.includes(expected)) {
    throw new ServiceError(
      "precondition_failed",
      `the secret has changed: its version is ${present.version}; read it again, then write`,
    );
  }
}
