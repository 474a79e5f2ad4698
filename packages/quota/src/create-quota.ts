import { ServiceError } from "@coffer/errors";
import type { DatabaseOptions } from "@coffer/postgres";
import type { Telemetry } from "@coffer/telemetry";
import { quotaRefusals } from "./quota-refusals.ts";

/** The quota of an owner. */
export interface QuotaOptions {
  items: number;
  mebibytes: number;
  /** By kind of usage: its owner and its items, in words. */
  kinds: Readonly<Record<string, { owner: string; items: string }>>;
}

/** The settings of a connection by which triggers enforce a quota, and the errors of their refusals. */
export type Quota = Pick<DatabaseOptions, "settings" | "refusals">;

const bytesPerMebibyte = 1024 * 1024;

/**
 * A quota for `createDatabase`. A write over it throws ServiceError `quota_exceeded`, and counts in
 * `coffer_quota_refusals_total` by the kind and the limit (`items` or `bytes`).
 */
export function createQuota(telemetry: Telemetry, { items, mebibytes, kinds }: QuotaOptions): Quota {
  const refused = quotaRefusals(telemetry);
  const refusal = (kind: string, limit: "items" | "bytes", message: string) => (): ServiceError => {
    refused.inc({ kind, limit });
    return new ServiceError("quota_exceeded", message);
  };
  const refusals = Object.entries(kinds).flatMap(([kind, names]) => [
    [
      `quota_${kind}_items`,
      refusal(kind, "items", `${names.owner} has the ${items} ${names.items} that its quota allows: delete some first`),
    ] as const,
    [
      `quota_${kind}_bytes`,
      refusal(
        kind,
        "bytes",
        `the ${names.items} of ${names.owner} would exceed ${mebibytes} MiB of ciphertext, its quota: delete some first`,
      ),
    ] as const,
  ]);
  return {
    settings: { "coffer.quota_items": String(items), "coffer.quota_bytes": String(mebibytes * bytesPerMebibyte) },
    refusals: Object.fromEntries(refusals),
  };
}

/** The migrations that count usage (docs/adr/0018): for `MigrationSource.packages`, named `usage`. */
export const usageMigrations: URL = new URL("./migrations/", import.meta.url);
