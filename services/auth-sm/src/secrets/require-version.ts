import { ServiceError } from "@coffer/errors";
import { type SecretReceipt, secretTags } from "./view.ts";

/**
 * Requires that a secret is unchanged since the caller read it. `expected` is the value of
 * `If-Match`: a version, the entity tag of a read, or `*`.
 * @throws ServiceError `precondition_failed`
 */
export function requireVersion(expected: string | undefined, present: SecretReceipt): void {
  const allowed = [undefined, "*", String(present.version), ...secretTags(present)];
  if (!allowed.includes(expected)) {
    throw new ServiceError(
      "precondition_failed",
      `the secret has changed: its version is ${present.version}; read it again, then write`,
    );
  }
}
