export { createQuota } from "./create-quota.ts";
export type { Quota, QuotaOptions } from "./create-quota.ts";
export { usageMigrations } from "./usage-migrations.ts";
