import type { Mutant } from "../../mutant.ts";

const source = "services/siem-forwarder/src";
const append = "services/siem-forwarder/test/audit/append.test.ts";
const access = "services/siem-forwarder/test/access.test.ts";
const list = "services/siem-forwarder/test/audit/list.test.ts";
const listCost = "services/siem-forwarder/test/audit/list-cost.test.ts";

/** The audit's chains, and their readers. */
export const siemForwarderMutants: readonly Mutant[] = [
  {
    name: "audit-record-of-another-service-stored",
    file: `${source}/audit/append-sent.ts`,
    find: "!mayRecord(service, action)",
    replace: "!mayRecord(service, action) && action.length > 64",
    tests: ["services/siem-forwarder/test/audit/append-subjects.test.ts"],
  },
  {
    name: "audit-action-of-a-newer-version-stored-for-each-service",
    file: "packages/events/src/recorded-actions.ts",
    find: "allowed.some((each) => firstWord(each) === firstWord(action))",
    replace: "allowed.length > 0",
    tests: ["services/siem-forwarder/test/audit/append-subjects.test.ts"],
  },
  {
    name: "audit-records-sent-on-the-former-shared-subject",
    file: "packages/outbox/src/relay.ts",
    find: ".map((each) => [each.subject, sentAs(each, telemetry.service)])",
    replace: ".map((each) => [each.subject, each])",
    tests: ["packages/outbox/test/relay.test.ts"],
  },
  {
    name: "chain-hash-skips-a-field",
    file: "packages/events/src/verify-chain.ts",
    find: "canonicalize({ ...record, hash: undefined })",
    replace: "canonicalize({ ...record, outcome: undefined, hash: undefined })",
    tests: ["packages/events/test/audit-chain.test.ts"],
  },
  {
    name: "chain-link-to-the-record-before-unchecked",
    file: "packages/events/src/verify-chain.ts",
    find: "record.prev_hash !== hash || !isAsHashed(sha256, record)",
    replace: "!isAsHashed(sha256, record)",
    tests: ["packages/events/test/audit-chain.test.ts"],
  },
  {
    name: "chain-with-a-gap-is-whole",
    file: "packages/events/src/verify-chain.ts",
    find: "if (record.seq > seq + 1) return",
    replace: "if (record.seq > seq + 2) return",
    tests: ["packages/events/test/audit-chain.test.ts"],
  },
  {
    name: "audit-record-appended-twice",
    file: `${source}/audit/append.ts`,
    find: "drafts.filter(({ draft }) => !known.has(draft.id.toLowerCase()))",
    replace: "drafts.filter(({ draft }) => !known.has(draft.id.toUpperCase()))",
    tests: [append],
  },
  {
    name: "audit-record-twice-in-one-batch-appended-twice",
    file: `${source}/audit/append.ts`,
    find: "const id = draft.id.toLowerCase();",
    replace: "const id = draft.id;",
    tests: [append],
  },
  {
    name: "audit-sequence-with-gaps",
    file: "packages/events/src/audit-chain.ts",
    find: "seq: head.seq + 1, prev_hash",
    replace: "seq: head.seq + 2, prev_hash",
    tests: [append],
  },
  {
    name: "audit-chains-not-locked",
    file: `${source}/store/chains.ts`,
    find: "ORDER BY id FOR UPDATE",
    replace: "ORDER BY id",
    tests: [append],
  },
  {
    name: "audit-read-by-any-member",
    file: `${source}/access.ts`,
    find: '["owner", "admin", "auditor"]',
    replace: '["owner", "admin", "auditor", "member"]',
    tests: [access],
  },
  {
    name: "audit-read-by-a-suspended-member",
    file: `${source}/access.ts`,
    find: "const membership = requireActive(answer.membership);",
    replace: 'const membership = requireActive(answer.membership && { ...answer.membership, status: "active" });',
    tests: [access],
  },
  {
    name: "audit-read-after-the-session-has-ended",
    file: `${source}/access.ts`,
    find: "const answer = await askMembershipInSession(",
    replace: "const answer = await askMembership(",
    tests: ["services/siem-forwarder/test/delivery/revocation.test.ts", access],
  },
  {
    name: "audit-of-another-organization-listed",
    file: `${source}/store/records.ts`,
    find: "WHERE chain_id = ${filter.chainId} AND seq BETWEEN",
    replace: "WHERE seq BETWEEN",
    tests: [list],
  },
  {
    name: "audit-page-of-an-actor-reads-the-records-of-others",
    file: `${source}/store/records.ts`,
    find: "AND (${actor} action, outcome) > (${ofActor} groups.action, groups.outcome)",
    replace: "AND ${actorId ?? null}::text IN (actor_id) AND (action, outcome) > (groups.action, groups.outcome)",
    tests: [listCost],
  },
];
