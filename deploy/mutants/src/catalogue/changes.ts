import type { Mutant } from "../mutant.ts";

const source = "services/vaults/src";
const tests = "services/vaults/test";

/**
 * What a device is told of what it has missed. Those that only show while others write are in the test itself:
 * services/vaults/test/sync-property/mutants.ts.
 */
export const changeMutants: readonly Mutant[] = [
  {
    name: "record-deleted-before-the-vault-was-shared-is-named",
    file: `${source}/store/sync-parts.ts`,
    find: "WHERE NOT pg_visible_in_snapshot(x, began)",
    replace: "WHERE began IS NOT NULL",
    tests: [`${tests}/sync-changes.test.ts`],
  },
  {
    name: "record-made-after-the-vault-was-lost-is-named",
    file: `${source}/store/sync-parts.ts`,
    find: "unnest(seen.ended) AS sight (ended) WHERE pg_visible_in_snapshot(created_x, ended)",
    replace: "unnest(seen.ended) AS sight (ended) WHERE ended IS NOT NULL",
    tests: [`${tests}/sync-changes.test.ts`],
  },
  {
    name: "when-a-record-was-deleted-is-told-to-who-lost-the-vault-before",
    file: `${source}/store/sync-parts.ts`,
    find: "CASE WHEN seen.present THEN deleted_at ELSE seen.ended_at END",
    replace: "deleted_at",
    tests: [`${tests}/sync-changes.test.ts`],
  },
  {
    name: "part-larger-than-the-bus-takes",
    file: `${source}/store/sync-parts.ts`,
    find: "(through <= ${bytes}::integer OR number = 1)",
    replace: "(through <= 2 * ${bytes}::integer OR number = 1)",
    tests: [`${tests}/sync-pages.test.ts`],
  },
  {
    name: "part-of-more-entries-than-the-client-wants",
    file: `${source}/store/sync-parts.ts`,
    find: "WHERE number <= ${entries}::integer AND (",
    replace: "WHERE (",
    tests: [`${tests}/sync-pages.test.ts`],
  },
  {
    name: "rest-of-an-answer-forgotten",
    file: `${source}/store/sync-parts.ts`,
    find: "AND number < found",
    replace: "AND number > found",
    tests: [`${tests}/sync-pages.test.ts`],
  },
  {
    name: "records-handed-out-on-record-in-one-chain-alone",
    file: `${source}/store/sync-parts.ts`,
    find: "SELECT org_id, count(*) FROM told WHERE kind = 0 GROUP BY org_id",
    replace: "SELECT min(org_id::text) AS org_id, count(*) FROM told WHERE kind = 0",
    tests: [`${tests}/sync-audit.test.ts`],
  },
  {
    name: "lengths-of-deletions-among-those-of-changes",
    file: `${source}/store/sync-parts.ts`,
    find: "(WHERE kind = 0), '{}') AS change_lengths",
    replace: "(WHERE true), '{}') AS change_lengths",
    tests: [`${tests}/sync-changes.test.ts`],
  },
  {
    name: "last-entry-of-a-part-told-again",
    file: `${source}/store/sync-parts.ts`,
    find: "(x, id) <> (${place.x}::xid8, ${place.id}::uuid)",
    replace: "(x, id) IS NOT NULL",
    tests: [`${tests}/sync-pages.test.ts`],
  },
  {
    name: "changes-handed-out-again-with-the-deletions",
    file: `${source}/store/sync-parts.ts`,
    find: "WHERE NOT ${query.onlyDeleted}::boolean AND seen.present",
    replace: "WHERE seen.present",
    tests: [`${tests}/sync-audit.test.ts`],
  },
  {
    name: "page-continued-after-its-day",
    file: `${source}/sync/first-place.ts`,
    find: "if (page.recent && ",
    replace: "if (",
    tests: [`${tests}/sync-retention.test.ts`],
  },
  {
    name: "page-of-somebody-else-continued",
    file: `${source}/store/sync-pages.ts`,
    find: "AND user_id = ${userId}",
    replace: "AND ${userId}::uuid IS NOT NULL",
    tests: [`${tests}/sync-pages.test.ts`],
  },
  {
    name: "sync-from-before-the-retention",
    file: `${source}/store/sync-ticks.ts`,
    find: "BETWEEN ${oldest.toISOString()} AND",
    replace: "BETWEEN (${oldest.toISOString()}::timestamptz - interval '1 year') AND",
    tests: [`${tests}/sync-retention.test.ts`],
  },
  {
    name: "sync-from-the-future",
    file: `${source}/store/sync-ticks.ts`,
    find: "AND newest.label\n",
    replace: "AND 'infinity'\n",
    tests: [`${tests}/sync-pages.test.ts`],
  },
  {
    name: "label-of-a-page-forgotten-before-the-ticks-around-it",
    file: `${source}/sync/sweep.ts`,
    find: "() => sweepPages(pool, old()),",
    replace: "() => sweepPages(pool, { before: oldestDenseTick(now()), limit }),",
    tests: [`${tests}/sync-retention.test.ts`],
  },
  {
    name: "newest-tick-swept-away",
    file: `${source}/store/sync-sweeps.ts`,
    find: " AND label < (SELECT max(label) FROM sync_ticks)`,\n",
    replace: "`,\n",
    tests: [`${tests}/sync-retention.test.ts`],
  },
  {
    name: "restored-dump-not-noticed",
    file: `${source}/store/sync-ticks.ts`,
    find: " AND e.xmin = e.written_x::xid AS same",
    replace: " AS same",
    tests: [`${tests}/sync-epoch.test.ts`],
  },
  {
    name: "server-set-back-not-noticed",
    file: `${source}/store/sync-ticks.ts`,
    find: " AND e.timeline = c.timeline_id",
    replace: "",
    tests: [`${tests}/sync-epoch.test.ts`],
  },
  {
    name: "transactions-of-another-server-stay-ahead",
    file: `${source}/sync/begin-epoch.ts`,
    find: 'for (const table of ["records", "tombstones"] as const)',
    replace: 'for (const table of ["tombstones"] as const)',
    tests: [`${tests}/sync-epoch.test.ts`],
  },
  {
    name: "sights-remember-snapshots-of-another-server",
    file: `${source}/store/sync-epoch.ts`,
    find: ", began_snapshot = '3:3:'",
    replace: "",
    tests: [`${tests}/sync-epoch.test.ts`],
  },
  {
    name: "records-shown-to-who-has-lost-the-vault",
    file: `${source}/store/sync-parts.ts`,
    find: "AND seen.present AND vault_id = seen.vault_id\n",
    replace: "AND vault_id = seen.vault_id\n",
    tests: [`${tests}/authorization-sync.test.ts`],
  },
  {
    name: "who-has-lost-the-vault-is-named-as-one-who-sees-it",
    file: `${source}/store/sync-viewers.ts`,
    find: "AND ended_x IS NULL AND (",
    replace: "AND (",
    tests: [`${tests}/authorization-sync.test.ts`],
  },
  {
    name: "who-is-suspended-goes-on-seeing-vaults",
    file: `${source}/store/sights.ts`,
    find: "(v.org_id IS NULL OR (o.status = 'active' AND o.role <> 'auditor'))",
    replace: "(v.org_id IS NULL OR o.role <> 'auditor')",
    tests: [`${tests}/authorization-sync.test.ts`],
  },
];
