import type { Mutant } from "../mutant.ts";

const source = "services/siem-forwarder/src";
const delivery = "services/siem-forwarder/test/delivery.test.ts";
const formats = "services/siem-forwarder/test/formats.test.ts";
const ssrf = "services/siem-forwarder/test/ssrf.test.ts";
const replicas = "services/siem-forwarder/test/replicas.test.ts";

/** Delivery to SIEM endpoints: nothing is lost, nothing goes where it must not. */
export const siemDeliveryMutants: readonly Mutant[] = [
  {
    name: "siem-position-stored-before-the-answer",
    file: `${source}/delivery/send-batch.ts`,
    find: "progress.failure = outcome;\n      return progress;",
    replace: "progress.failure = outcome;\n      progress.through = batch.last;\n      return progress;",
    tests: [delivery],
  },
  {
    name: "siem-refused-batch-parked-as-a-whole",
    file: `${source}/delivery/send-batch.ts`,
    find: 'outcome.kind === "refused" && group.length > 1',
    replace: 'outcome.kind === "refused" && group.length > 1_000',
    tests: [delivery],
  },
  {
    name: "siem-error-of-the-endpoint-parks-records",
    file: `${source}/formats/hec.ts`,
    find: "new Set([1, 2, 3, 4, 7, 10, 11])",
    replace: "new Set([2, 3, 4])",
    tests: [delivery],
  },
  {
    name: "siem-success-without-its-code",
    file: `${source}/formats/hec.ts`,
    find: "status === 200 && code === 0",
    replace: "status === 200 && code !== 1",
    tests: [delivery],
  },
  {
    name: "siem-failures-reported-to-the-endpoint-that-fails",
    file: `${source}/delivery/batch.ts`,
    find: "if (!isOwn) {",
    replace: "if (!isOwn || seq > 0) {",
    tests: [delivery],
  },
  {
    name: "siem-parked-records-reported-each-time",
    file: `${source}/store/deliveries.ts`,
    find: "AND (parked_reported_at IS NULL OR parked_reported_at <= ${notSince}::timestamptz)",
    replace: "AND (parked_reported_at IS NULL OR parked_reported_at <= ${now}::timestamptz)",
    tests: [delivery],
  },
  {
    name: "siem-retry-after-shortened",
    file: `${source}/delivery/retry-schedule.ts`,
    find: "(1 + jitter * random)",
    replace: "(0.5 + jitter * random)",
    tests: [delivery],
  },
  {
    name: "siem-retry-after-of-any-length",
    file: `${source}/formats/format.ts`,
    find: "Math.min(seconds, mostRetryAfterSeconds)",
    replace: "Math.max(seconds, mostRetryAfterSeconds)",
    tests: [delivery],
  },
  {
    name: "siem-endpoint-never-disabled",
    file: `${source}/delivery/deliver.ts`,
    find: "5 * 24 * 60 * 60 * 1_000",
    replace: "50 * 24 * 60 * 60 * 1_000",
    tests: [delivery],
  },
  {
    name: "siem-backlog-given-up-without-a-record",
    file: `${source}/delivery/give-up-old.ts`,
    find: "if (last === null || from === null",
    replace: "if (last === null || (await skipTo(tx, { id, from: position, to: last })) || from === null",
    tests: [delivery],
  },
  {
    name: "siem-delivery-without-the-plan",
    file: `${source}/delivery/forwarder.ts`,
    find: "closing || paused.has(endpoint.org_id) ||",
    replace: "closing ||",
    tests: [delivery],
  },
  {
    name: "siem-pause-counted-as-failure",
    file: `${source}/delivery/forwarder.ts`,
    find: "await forgetFailures(pool, deps.replicaId, [...paused]);",
    replace: "await forgetFailures(pool, deps.replicaId, [...paused].slice(0, 0));",
    tests: [delivery],
  },
  {
    name: "siem-test-event-with-the-id-of-its-record",
    file: `${source}/endpoints/test.ts`,
    find: 'const outcome = answer.ok ? "success" : "failure";',
    replace: 'const outcome = "success" as const;',
    tests: [delivery],
  },
  {
    name: "siem-revoked-token-used-again",
    file: `${source}/formats/log-analytics.ts`,
    find: "if (status === 401) tokens.delete(channel);",
    replace: "if (status === 402) tokens.delete(channel);",
    tests: [formats],
  },
  {
    name: "siem-rejected-item-counted-as-delivered",
    file: `${source}/formats/ecs.ts`,
    find: "(isDone(each) ? [] : [at])",
    replace: "(isDone(each) || at > 0 ? [] : [at])",
    tests: [formats],
  },
  {
    name: "siem-item-that-exists-parked",
    file: `${source}/formats/ecs.ts`,
    find: " || each === 409;",
    replace: " || each === 410;",
    tests: [formats],
  },
  {
    name: "siem-overloaded-item-parked",
    file: `${source}/formats/ecs.ts`,
    find: "each === 429 || each < 400",
    replace: "each < 400",
    tests: [formats],
  },
  {
    name: "siem-address-unchecked-at-connect",
    file: `${source}/outgoing/destination.ts`,
    find: "const allowed = addresses.filter((address) => networks.allows(address, protocol));",
    replace:
      "const allowed = addresses.filter((address) => networks.allows(address, protocol) || address !== literal);",
    tests: [ssrf],
  },
  {
    name: "siem-answer-read-to-its-end",
    file: `${source}/outgoing/channel.ts`,
    find: "if (isCut) break;",
    replace: "if (isCut && bytes > 2 ** 40) break;",
    tests: [ssrf],
  },
  {
    name: "siem-request-without-an-end",
    file: `${source}/outgoing/channel.ts`,
    find: "AbortSignal.timeout(timeoutMilliseconds)",
    replace: "AbortSignal.timeout(timeoutMilliseconds * 1_000)",
    tests: [ssrf],
  },
  {
    name: "siem-former-holder-of-a-lease-stores-its-failure",
    file: `${source}/store/deliveries.ts`,
    find: "WHERE id = $1 AND lease_holder = $2`,\n  );\n  const values",
    replace: "WHERE id = $1 AND $2::uuid IS NOT NULL`,\n  );\n  const values",
    tests: [replicas],
  },
  {
    name: "siem-leases-not-shared",
    file: `${source}/delivery/forwarder.ts`,
    find: "if (replicas > 1) await giveBackLeases",
    replace: "if (replicas > 9) await giveBackLeases",
    tests: [replicas],
  },
  {
    name: "siem-leases-kept-after-the-end",
    file: `${source}/delivery/forwarder.ts`,
    find: "await forgetReplica(deps.database.pool, deps.replicaId).catch",
    replace: "await Promise.resolve().catch",
    tests: [replicas],
  },
];
