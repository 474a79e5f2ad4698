import { createHash } from "node:crypto";
import type { Sweep } from "@coffer/service";
import type { Deps } from "../deps.ts";
import { deleteCredentialsBefore } from "../store/accounts/device-credentials.ts";

const prefix = "cfd1_";
const bytes = 32;
const lifeMilliseconds = 365 * 24 * 60 * 60 * 1000;
const batch = 1000;

/**
 * Makes the credential that a device sends with its next login: `cfd1_` and base64url of 32 random
 * bytes. The server stores only its hash.
 */
export function newDeviceCredential(randomBytes: Deps["randomBytes"]): string {
  return prefix + randomBytes(bytes).toString("base64url");
}

/** Any text has a hash, so a malformed credential takes as long as an unknown one. */
export function hashDeviceCredential(text: string): Buffer {
  return createHash("sha256").update(text).digest();
}

/** Credentials made after this moment are valid. */
export function credentialsSince(now: Date): Date {
  return new Date(now.getTime() - lifeMilliseconds);
}

export function deviceCredentialSweep({ database, now }: Pick<Deps, "database" | "now">): Sweep {
  return {
    everyMilliseconds: 60 * 60 * 1000,
    batch: async () => {
      const limits = { since: credentialsSince(now()), limit: batch };
      return (await deleteCredentialsBefore(database.pool, limits)) === batch;
    },
    failure: "cannot delete old device credentials now; a later sweep retries",
  };
}
