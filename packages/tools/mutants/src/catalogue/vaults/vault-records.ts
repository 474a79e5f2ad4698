import type { Mutant } from "../../mutant.ts";

const source = "services/vaults/src";
const tests = "services/vaults/test";

/** Writes of records, and their audit. */
export const vaultRecordMutants: readonly Mutant[] = [
  {
    name: "record-written-in-a-session-that-ended-meanwhile",
    file: `${source}/records/write.ts`,
    find: "deps.users.requireActiveSession(caller)",
    replace: "caller",
    tests: [`${tests}/members/ended-while-writing.test.ts`],
  },
  {
    name: "record-written-by-who-only-reads",
    file: `${source}/store/records/record-writes.ts`,
    find: "m.user_id = requested.user_id AND m.permission IN ('write', 'manage')",
    replace: "m.user_id = requested.user_id",
    tests: [`${tests}/records/records.test.ts`],
  },
  {
    name: "record-written-by-who-does-not-see-the-vault",
    file: `${source}/store/records/record-writes.ts`,
    find: "    SELECT FROM sights s WHERE s.user_id = requested.user_id AND s.vault_id = requested.vault_id AND s.ended_x IS NULL\n",
    replace: "    SELECT\n",
    tests: [`${tests}/members/memberships.test.ts`, `${tests}/members/travel.test.ts`],
  },
  {
    name: "record-written-although-access-was-taken-away-meanwhile",
    file: `${source}/store/records/record-writes.ts`,
    find: "  AND v.access_version = requested.access_version\n",
    replace: "",
    tests: [`${tests}/races.test.ts`],
  },
  {
    name: "record-written-over-another-write",
    file: `${source}/store/records/record-writes.ts`,
    find: "id = held.id AND (held.expected IS NULL OR r.updated_at = held.expected)\n       RETURNING r.vault_id, r.id, r.created_at",
    replace: "id = held.id\n       RETURNING r.vault_id, r.id, r.created_at",
    tests: [`${tests}/records/records.test.ts`],
  },
  {
    name: "record-deleted-although-another-write-came-first",
    file: `${source}/store/records/record-writes.ts`,
    find: "id = held.id AND (held.expected IS NULL OR r.updated_at = held.expected)\n       RETURNING r.vault_id, r.id, r.created_x",
    replace: "id = held.id\n       RETURNING r.vault_id, r.id, r.created_x",
    tests: [`${tests}/records/records.test.ts`],
  },
  {
    name: "record-goes-back-in-time-with-the-clock",
    file: `${source}/store/records/record-writes.ts`,
    find: "greatest(held.now, r.updated_at + interval '1 microsecond')\n       FROM",
    replace: "held.now\n       FROM",
    tests: [`${tests}/records/records.test.ts`],
  },
  {
    name: "write-held-up-by-who-names-its-record",
    file: "packages/outbox/src/grouped-write.ts",
    find: "SELECT DISTINCT ON (${keys})",
    replace: "SELECT DISTINCT ON (${key[0]})",
    tests: [`${tests}/records/record-writes.test.ts`],
  },
  {
    name: "record-with-the-message-of-another-write",
    file: "packages/outbox/src/grouped-write.ts",
    find: "FROM written JOIN notes USING (${keys})",
    replace: "FROM written JOIN notes USING (${key.at(-1)})",
    tests: [`${tests}/records/record-writes.test.ts`],
  },
  {
    name: "record-takes-the-id-of-one-that-was-deleted",
    file: `${source}/migrations/0002_removed_vaults.sql`,
    find: "IF EXISTS (SELECT FROM vaults.tombstones WHERE id = NEW.id) THEN",
    replace: "IF false THEN",
    tests: [`${tests}/records/taken-ids.test.ts`],
  },
  {
    name: "import-fails-beside-a-deletion",
    file: `${source}/records/import.ts`,
    find: "    if (isUniqueViolation(error, idOfDeleted)) return null;\n",
    replace: "",
    tests: [`${tests}/records/taken-ids.test.ts`],
  },
  {
    name: "read-of-a-record-not-on-record",
    file: `${source}/records/read.ts`,
    find: "await deps.audit(",
    replace: "await Promise.resolve(",
    tests: [`${tests}/records/records.test.ts`],
  },
  {
    name: "records-that-a-device-gets-not-on-record",
    file: `${source}/sync/record-handed-out.ts`,
    find: "deps.audit(draftOf(deps, device, org_id, count))",
    replace: "Promise.resolve(draftOf(deps, device, org_id, count))",
    tests: [`${tests}/sync/sync-audit.test.ts`],
  },
];
