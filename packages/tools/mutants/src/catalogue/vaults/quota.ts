import type { Mutant } from "../../mutant.ts";

const usage = "packages/quota/src/migrations/0001_usage.sql";
const secrets = "services/auth-sm/src/migrations/0008_usage.sql";
const records = "services/vaults/src/migrations/0007_usage.sql";
const counter = "packages/quota/test/usage.test.ts";
const secretTest = "services/auth-sm/test/organizations/quota.test.ts";
const recordTest = "services/vaults/test/records/quota.test.ts";

/** How usage is counted and quotas are enforced. */
export const quotaMutants: readonly Mutant[] = [
  {
    name: "quota-share-takes-one-item-more",
    file: usage,
    find: "u.items + more_items <= share_of",
    replace: "u.items + more_items <= 1 + share_of",
    tests: [counter],
  },
  {
    name: "quota-share-takes-one-byte-more",
    file: usage,
    find: "u.bytes + more_bytes <= share_of",
    replace: "u.bytes + more_bytes <= 1 + share_of",
    tests: [counter],
  },
  {
    name: "quota-sum-of-items-unchecked",
    file: usage,
    find: "IF total.items > limited_items THEN",
    replace: "IF total.items > limited_items AND total.items < 0 THEN",
    tests: [counter],
  },
  {
    name: "quota-sum-of-bytes-unchecked",
    file: usage,
    find: "IF total.bytes > limited_bytes THEN",
    replace: "IF total.bytes > limited_bytes AND total.bytes < 0 THEN",
    tests: [counter],
  },
  {
    name: "quota-lowered-limit-not-noticed",
    file: usage,
    find: "other.items > share_of(limited_items, other.share)",
    replace: "other.items < 0",
    tests: [counter],
  },
  {
    name: "quota-writers-wait-for-each-other",
    file: usage,
    find: "LIMIT 1 FOR UPDATE SKIP LOCKED",
    replace: "LIMIT 1 FOR UPDATE",
    tests: [counter],
  },
  {
    name: "quota-spread-without-locks",
    file: usage,
    find: "ORDER BY share FOR UPDATE;",
    replace: "ORDER BY share;",
    tests: [counter],
  },
  {
    name: "quota-refusal-as-an-internal-error",
    file: "packages/postgres/src/database.ts",
    find: "throw refusal === undefined ? error : refusal();",
    replace: "throw error;",
    tests: [counter],
  },
  {
    name: "quota-of-secrets-not-counted-on-update",
    file: secrets,
    find: "PERFORM add_usage(change.org_id, 'secrets', 0, change.bytes, quota('items'), quota('bytes'));",
    replace: "PERFORM 1;",
    tests: [secretTest],
  },
  {
    name: "quota-of-secrets-not-counted-on-deletion",
    file: secrets,
    find: "PERFORM add_usage(change.org_id, 'secrets', -change.items, -change.bytes, NULL, NULL);",
    replace: "PERFORM 1;",
    tests: [secretTest],
  },
  {
    name: "quota-of-secrets-without-their-fields",
    file: secrets,
    find: "    + octet_length(fields::text)\n",
    replace: "",
    tests: [secretTest],
  },
  {
    name: "quota-of-present-secrets-not-counted",
    file: secrets,
    find: "share_of(items, n), share_of(bytes, n)",
    replace: "0, 0",
    tests: ["services/auth-sm/test/organizations/quota-migration.test.ts"],
  },
  {
    name: "quota-of-records-not-counted-on-update",
    file: records,
    find: "PERFORM add_usage(change.user_id, 'records', 0, change.bytes, quota('items'), quota('bytes'));",
    replace: "PERFORM 1;",
    tests: [recordTest],
  },
  {
    name: "quota-of-records-not-counted-on-deletion",
    file: records,
    find: "PERFORM add_usage(change.user_id, 'records', -change.items, -change.bytes, NULL, NULL);",
    replace: "PERFORM 1;",
    tests: [recordTest],
  },
  {
    name: "quota-of-staged-records-unlimited",
    file: records,
    find: `PERFORM add_usage(change.user_id, 'staged', 0, change.bytes, NULL, quota('bytes'));
      END LOOP;
    WHEN 'UPDATE'`,
    replace: `PERFORM add_usage(change.user_id, 'staged', 0, change.bytes, NULL, NULL);
      END LOOP;
    WHEN 'UPDATE'`,
    tests: [recordTest],
  },
  {
    name: "quota-of-staged-records-unlimited-when-they-grow",
    file: records,
    find: `PERFORM add_usage(change.user_id, 'staged', 0, change.bytes, NULL, quota('bytes'));
      END LOOP;
    ELSE`,
    replace: `PERFORM add_usage(change.user_id, 'staged', 0, change.bytes, NULL, NULL);
      END LOOP;
    ELSE`,
    tests: [recordTest],
  },
  {
    name: "quota-ignored-when-a-vault-changes-its-payer",
    file: records,
    find: "PERFORM add_usage(manager, 'records', held.items, held.bytes, quota('items'), quota('bytes'));",
    replace: "PERFORM add_usage(manager, 'records', held.items, held.bytes, NULL, NULL);",
    tests: [recordTest],
  },
  {
    name: "quota-of-the-payer-before-stays-used",
    file: records,
    find: "PERFORM add_usage(vault.payer, 'records', -held.items, -held.bytes, NULL, NULL);",
    replace: "PERFORM 1;",
    tests: [recordTest],
  },
  {
    name: "quota-paid-by-a-member-who-does-not-manage",
    file: records,
    find: "m.user_id = p.user_id AND m.permission = 'manage'",
    replace: "m.user_id = p.user_id",
    tests: [recordTest],
  },
  {
    name: "quota-payer-of-an-emptied-vault-stays",
    file: "services/vaults/src/store/vaults/vault-removal.ts",
    find: "WHERE d.id = ${id} AND d.emptied AND",
    replace: "WHERE d.id = ${id} AND NOT d.emptied AND",
    tests: [recordTest],
  },
];
