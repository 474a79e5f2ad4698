import { createHash } from "node:crypto";
import type { Sweep } from "@coffer/service";
import type { Deps } from "../deps.ts";
import { deleteCredentialsBefore } from "../store/device-credentials.ts";

const prefix = "cfd1_";
const bytes = 32;
const lifeMilliseconds = 365 * 24 * 60 * 60 * 1000;
const batch = 1000;

/** What a device shows at its next login: `cfd1_` and base64url of 32 random bytes. The server stores its hash only. */
export function newDeviceCredential(randomBytes: Deps["randomBytes"]): string {
  return prefix + randomBytes(bytes).toString("base64url");
}

/** What is stored of a credential. Any text has a hash, so that a malformed one takes as long as one that is unknown. */
export function hashDeviceCredential(text: string): Buffer {
  return createHash("sha256").update(text).digest();
}

/** A credential that was made after this moment counts. */
export function credentialsSince(now: Date): Date {
  return new Date(now.getTime() - lifeMilliseconds);
}

/** Deletes credentials that count no longer. */
export function deviceCredentialSweep({ database, now }: Pick<Deps, "database" | "now">): Sweep {
  return {
    everyMilliseconds: 60 * 60 * 1000,
    batch: async () => {
      const limits = { since: credentialsSince(now()), limit: batch };
      return (await deleteCredentialsBefore(database.pool, limits)) === batch;
    },
    failure: "old device credentials cannot be deleted now; a later sweep will",
  };
}
