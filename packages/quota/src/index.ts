export { createQuota, type Quota, type QuotaOptions, usageMigrations } from "./create-quota.ts";
