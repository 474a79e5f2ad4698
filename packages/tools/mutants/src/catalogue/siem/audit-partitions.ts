import type { Mutant } from "../../mutant.ts";

const source = "services/siem-forwarder/src";
const partitioned = `${source}/migrations/0011_partitioned_audit.sql`;
const partitions = "services/siem-forwarder/test/audit/partitions.test.ts";
const migration = "services/siem-forwarder/test/audit/partition-migration.test.ts";

/** The partitions of the audit: each record is stored and listed once, in whichever partition it is. */
export const auditPartitionMutants: readonly Mutant[] = [
  {
    name: "audit-record-sent-again-looked-up-in-the-first-month-alone",
    file: `${source}/store/records.ts`,
    find: "new Date(Math.max(...times))",
    replace: "new Date(Math.min(...times))",
    tests: [partitions],
  },
  {
    name: "audit-late-records-missing-from-a-page",
    file: `${source}/audit/list-by-partitions.ts`,
    find: "one.first <= last && one.last >= first",
    replace: "one.first <= last && one.first >= first",
    tests: [partitions],
  },
  {
    name: "audit-late-records-missing-from-a-delivery",
    file: `${source}/store/deliveries.ts`,
    find: "SELECT min(from_time) FROM audit_partitions",
    replace: "SELECT max(from_time) FROM audit_partitions",
    tests: [partitions],
  },
  {
    name: "audit-page-reads-every-partition",
    file: `${source}/store/records.ts`,
    find: "if (within === undefined) return",
    replace: "if (within === undefined || within.to !== within.from) return",
    tests: [partitions],
  },
  {
    name: "audit-partitions-not-made-ahead",
    file: `${source}/audit/keep-partitions.ts`,
    find: "const monthsAhead = 3",
    replace: "const monthsAhead = 2",
    tests: [partitions],
  },
  {
    name: "audit-records-stay-in-the-default-partition",
    file: partitioned,
    find: "WHERE time >= %L AND time < %L RETURNING *",
    replace: "WHERE time > %L AND time < %L RETURNING *",
    tests: [partitions],
  },
  {
    name: "audit-partition-made-by-two-replicas",
    file: partitioned,
    find: "LOCK TABLE ONLY audit_records IN SHARE UPDATE EXCLUSIVE MODE;",
    replace: "LOCK TABLE ONLY audit_records IN ACCESS SHARE MODE;",
    tests: [partitions],
  },
  {
    name: "audit-partition-waits-for-a-backup",
    file: partitioned,
    find: "PERFORM set_config('lock_timeout', '1s', true);",
    replace: "PERFORM set_config('lock_timeout', '0', true);",
    tests: [partitions],
  },
  {
    name: "audit-places-of-former-records-unknown",
    file: `${source}/migrations/0009_fill_audit_partitions.sql`,
    find: "audit_before(), min(first_seq), max(last_seq)",
    replace: "audit_before(), max(first_seq), max(last_seq)",
    tests: [migration],
  },
  {
    name: "audit-places-of-late-records-unknown",
    file: `${source}/migrations/0008_audit_partitions.sql`,
    find: "last_seq = greatest(",
    replace: "last_seq = least(",
    tests: [partitions],
  },
  {
    name: "audit-attached-with-a-scan",
    file: `${source}/migrations/0011_partitioned_audit.sql`,
    find: "ALTER TABLE audit_records_before DROP CONSTRAINT audit_records_pkey,",
    replace:
      "ALTER TABLE audit_records_before DROP CONSTRAINT audit_records_before;\n" +
      "ALTER TABLE audit_records_before ADD CONSTRAINT audit_records_before CHECK (true);\n" +
      "ALTER TABLE audit_records_before DROP CONSTRAINT audit_records_pkey,",
    tests: ["deploy/local/test/backup/blocking-migrations.test.ts"],
  },
  {
    name: "audit-copied-by-partitions",
    file: "packages/stores/src/copy-database.ts",
    find: "c.relkind IN ('r', 'p', 'S') AND NOT c.relispartition",
    replace: "c.relkind IN ('r', 'S')",
    tests: ["packages/stores/test/copy-database.test.ts"],
  },
];
