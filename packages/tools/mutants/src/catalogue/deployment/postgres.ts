import type { Mutant } from "../../mutant.ts";

const source = "packages/postgres/src";
const outbox = "packages/outbox/src";
const relay = "packages/outbox/test/relay.test.ts";
const away = "packages/outbox/test/relay-away.test.ts";
const parking = "packages/outbox/test/relay-parking.test.ts";
const migrating = "packages/postgres/test/migrate.test.ts";

/** Messages that are lost, or sent before their commit. */
export const postgresMutants: readonly Mutant[] = [
  {
    name: "full-disk-answered-as-a-bug",
    file: `${source}/failure.ts`,
    find: '  "53", // connections, disk, memory\n',
    replace: "",
    tests: ["services/auth-sm/test/full-disk.test.ts", "services/vaults/test/full-disk.test.ts"],
  },
  {
    name: "index-of-a-migration-built-in-its-transaction",
    file: `${source}/migrations.ts`,
    find: 'if (first !== "-- without transaction") return null;',
    replace: 'if (first !== "-- with no transaction") return null;',
    tests: [migrating],
  },
  {
    name: "migrator-waits-with-a-snapshot",
    file: `${source}/migrate.ts`,
    find: '"select pg_try_advisory_lock($1, hashtext($2)) as held"',
    replace: '"select pg_advisory_lock($1, hashtext($2)) is not null as held"',
    tests: [migrating],
  },
  {
    name: "expired-secrets-index-built-while-writes-wait",
    file: "services/auth-sm/src/migrations/0012_expired_secrets_index.sql",
    find: `-- without transaction
`,
    replace: "",
    tests: ["deploy/local/test/backup/blocking-migrations.test.ts"],
  },
  {
    name: "outbox-row-removed-before-it-is-acknowledged",
    file: `${outbox}/deliver-rows.ts`,
    find: "    report.away = true;\n  } else if (batch.length === 1)",
    replace:
      "    report.away = true;\n    report.delivered.push(...batch.map(({ position }) => position));\n  } else if (batch.length === 1)",
    tests: [away, relay],
  },
  {
    name: "outbox-row-that-was-refused-is-lost",
    file: `${outbox}/relay-lane.ts`,
    find: "delivered: report.delivered,\n      failed,",
    replace: "delivered: [...report.delivered, ...failed.map(({ position }) => position)],\n      failed: [],",
    tests: [parking],
  },
  {
    name: "outbox-row-of-several-records-is-not-divided",
    file: `${outbox}/deliver-rows.ts`,
    find: "Array.isArray(records) && records.length > 1",
    replace: "Array.isArray(records) && records.length > 1_000",
    tests: ["packages/outbox/test/relay-dividing.test.ts"],
  },
  {
    name: "outbox-row-taken-by-two-relays",
    file: `${outbox}/rows.ts`,
    find: "order by position limit $3 for update skip locked",
    replace: "order by position limit $3",
    tests: [relay, "packages/outbox/test/relay-kill.test.ts"],
  },
  {
    name: "newest-waiting-message-not-listed",
    file: `${outbox}/list-waiting.ts`,
    find: "order by position desc limit",
    replace: "order by position limit",
    tests: ["packages/outbox/test/list-waiting.test.ts"],
  },
  {
    name: "parked-message-listed",
    file: `${outbox}/list-waiting.ts`,
    find: " and attempts < ${parkedAfter}",
    replace: " and attempts < ${parkedAfter * 1_000}",
    tests: ["packages/outbox/test/list-waiting.test.ts"],
  },
  {
    name: "audit-of-a-read-not-waited-for",
    file: `${source}/group-commit.ts`,
    find: "await write(items);",
    replace: "void write(items);",
    tests: ["packages/postgres/test/group-commit.test.ts"],
  },
  {
    name: "commit-of-no-record-does-not-wait-for-the-disk",
    file: `${outbox}/audit-log.ts`,
    find: "pg_logical_emit_message(true,",
    replace: "pg_logical_emit_message(false,",
    tests: ["packages/outbox/test/audit-log.test.ts"],
  },
  {
    name: "audit-of-reads-stores-the-first-only",
    file: `${outbox}/audit-log.ts`,
    find: "      last.records.push(json);\n",
    replace: "",
    tests: ["packages/outbox/test/audit-log.test.ts"],
  },
  {
    name: "results-of-a-batch-swapped",
    file: `${source}/prepared-each.ts`,
    find: "answers[row.n - 1] = row;",
    replace: "answers[answers.indexOf(null)] = row;",
    tests: ["packages/postgres/test/prepared-each.test.ts"],
  },
  {
    name: "write-that-waits-in-vain-takes-others-along",
    file: `${source}/prepared-each.ts`,
    find: "isUnavailable(error) && !isLockTimeout(error)",
    replace: "isUnavailable(error)",
    tests: ["packages/postgres/test/prepared-each.test.ts"],
  },
  {
    name: "writes-beside-one-that-waits-in-vain-not-done",
    file: `${source}/prepared-each.ts`,
    find: "(error instanceof QueryFailure || isLockTimeout(error))",
    replace: "error instanceof QueryFailure",
    tests: ["packages/postgres/test/prepared-write.test.ts"],
  },
  {
    name: "shared-write-that-may-have-been-done-is-done-again",
    file: `${source}/prepared-each.ts`,
    find: "error instanceof QueryFailure || isLockTimeout(error)",
    replace: "error instanceof Error",
    tests: ["packages/postgres/test/prepared-each.test.ts"],
  },
  {
    name: "shared-writes-however-large-they-are",
    file: `${source}/prepared-each.ts`,
    find: "    weight: { of: charactersOf, most: mostCharacters },\n",
    replace: "",
    tests: ["packages/postgres/test/prepared-each.test.ts"],
  },
  {
    name: "batched-statement-waits-forever",
    file: `${source}/grouped.ts`,
    find: "if (patience !== undefined && next.since < tooEarly)",
    replace: "if (patience !== undefined && next.since > Infinity)",
    tests: ["packages/postgres/test/prepared-each.test.ts"],
  },
  {
    name: "shared-statement-waited-for-by-however-many",
    file: `${source}/grouped.ts`,
    find: "waiting.length >= patience.most",
    replace: "waiting.length > patience.most",
    tests: ["packages/postgres/test/prepared-each.test.ts"],
  },
  {
    name: "outbox-row-committed-late-is-never-looked-for",
    file: `${outbox}/scan-start.ts`,
    find: "      wholeAt = now;\n",
    replace: "      wholeAt = Number.POSITIVE_INFINITY;\n",
    tests: ["packages/outbox/test/scan-start.test.ts", relay],
  },
  {
    name: "a-full-disk-goes-unnoticed-by-readiness",
    file: "packages/service/src/readiness.ts",
    find: 'const postgres = schema === "ok" ? writes : schema;',
    replace: "const postgres = schema;",
    tests: ["services/siem-forwarder/test/faults/full-disk.test.ts"],
  },
  {
    name: "a-write-that-fails-is-not-noted",
    file: "packages/postgres/src/write-check.ts",
    find: "bad = { at: now(), state };",
    replace: 'if (state === "ok") bad = { at: now(), state };',
    tests: ["services/siem-forwarder/test/faults/full-disk.test.ts"],
  },
  {
    name: "calls-that-wait-for-a-batch-are-not-counted",
    file: `${source}/database.ts`,
    find: "waiting.set(sent + unsent,",
    replace: "waiting.set(sent + unsent * 0,",
    tests: ["packages/postgres/test/pool.test.ts"],
  },
  {
    name: "refusals-of-nats-are-not-counted",
    file: "packages/bus/src/link.ts",
    find: "if (operation !== undefined) onRefusal(operation);",
    replace: 'if (operation === "subscribe") onRefusal(operation);',
    tests: ["packages/bus/test/connection.test.ts"],
  },
  {
    name: "a-refused-reply-counts-as-a-missing-permission",
    file: "packages/bus/src/link.ts",
    find: 'return subject.startsWith(anyInbox) ? "reply" : "publish";',
    replace: 'return subject.startsWith(anyInbox) ? "publish" : "publish";',
    tests: ["packages/bus/test/connection.test.ts"],
  },
  {
    name: "refusals-of-the-first-subscriptions-are-missed",
    file: "packages/bus/src/bus-metrics.ts",
    find: 'if (operation === "subscribe") missing.add(1);',
    replace: 'if (operation === "subscribe") missing.add(0);',
    tests: ["packages/bus/test/connection.test.ts"],
  },
];
