export { createQuota, type Quota, type QuotaOptions, usageMigrations } from "./create-quota.ts";
export { quotaRefusals } from "./quota-refusals.ts";
