import type { Mutant } from "../../mutant.ts";

const source = "services/auth-sm/src";
const tests = "services/auth-sm/test";

/** The audit records of auth-sm. */
export const recordMutants: readonly Mutant[] = [
  {
    name: "read-of-a-secret-not-on-record",
    file: `${source}/machine/read-secret.ts`,
    find: "await deps.audit(",
    replace: "await Promise.resolve(",
    tests: [`${tests}/secrets/secret-permissions.test.ts`],
  },
  {
    name: "read-of-a-field-not-on-record",
    file: `${source}/machine/read-field.ts`,
    find: "await deps.audit(",
    replace: "await Promise.resolve(",
    tests: [`${tests}/secrets/secret-permissions.test.ts`],
  },
  {
    name: "machines-denied-look-at-its-folders-under-another-name",
    file: `${source}/machine/routes.ts`,
    find: 'path: `${base}/folders`,\n    status: 200,\n    audit: { action: "client.access.denied"',
    replace: 'path: `${base}/folders`,\n    status: 200,\n    audit: { action: "secret.listed"',
    tests: [`${tests}/refusals.test.ts`],
  },
  {
    name: "machines-denied-look-at-itself-under-another-name",
    file: `${source}/machine/routes.ts`,
    find: 'path: `${base}/client`,\n    status: 200,\n    audit: { action: "client.access.denied"',
    replace: 'path: `${base}/client`,\n    status: 200,\n    audit: { action: "secret.listed"',
    tests: [`${tests}/refusals.test.ts`],
  },
  {
    name: "taken-uid-not-on-record",
    file: `${source}/secrets/create.ts`,
    find: 'if (secret !== "taken") return secret;\n  await deps.audit(',
    replace: 'if (secret !== "taken") return secret;\n  await Promise.resolve(',
    tests: [`${tests}/refusals.test.ts`],
  },
  {
    name: "resolved-notation-not-on-record",
    file: `${source}/machine/resolve-notation.ts`,
    find: "await deps.audit(",
    replace: "await Promise.resolve(",
    tests: [`${tests}/secrets/notation.test.ts`],
  },
  {
    name: "list-of-a-machine-not-on-record",
    file: `${source}/machine/machine-batch.ts`,
    find: "deps.audit(audit(",
    replace: "((_: unknown) => Promise.resolve())(audit(",
    tests: [`${tests}/secrets/list-and-search.test.ts`],
  },
  {
    name: "read-of-a-person-not-on-record",
    file: `${source}/folder-secrets/read.ts`,
    find: "await deps.audit(",
    replace: "await Promise.resolve(",
    tests: [`${tests}/all-or-nothing.test.ts`],
  },
  {
    name: "read-answered-before-it-is-on-record",
    file: `${source}/machine/read-secret.ts`,
    find: "await deps.audit(",
    replace: "void deps.audit(",
    tests: [`${tests}/all-or-nothing.test.ts`],
  },
  {
    name: "denial-not-on-record",
    file: "packages/service/src/record-refusal.ts",
    find: 'if (status === 403) return "denied";',
    replace: "if (status === 403) return null;",
    tests: [`${tests}/secrets/secret-permissions.test.ts`],
  },
  {
    name: "write-of-a-secret-not-on-record",
    file: "packages/outbox/src/grouped-write.ts",
    find: ") AS message (${outboxColumns})\n",
    replace: ") AS message (${outboxColumns}) WHERE message.subject <> 'coffer.rpc.siem-forwarder.append'\n",
    tests: [`${tests}/secrets/secret-permissions.test.ts`],
  },
  {
    name: "write-on-record-that-was-not-made",
    file: "packages/outbox/src/grouped-write.ts",
    find: "FROM written JOIN notes USING (${keys})",
    replace: "FROM notes",
    tests: [`${tests}/all-or-nothing.test.ts`],
  },
  {
    name: "folder-creation-on-record-outside-its-transaction",
    file: `${source}/folders/create.ts`,
    find: "await enqueueAudit(tx, ",
    replace: "await deps.audit(",
    tests: [`${tests}/all-or-nothing.test.ts`],
  },
  {
    name: "revocation-of-a-token-on-record-outside-its-transaction",
    file: `${source}/tokens/revoke.ts`,
    find: "enqueueAudit(tx, audit(",
    replace: "deps.audit(audit(",
    tests: [`${tests}/all-or-nothing.test.ts`],
  },
  {
    name: "rejected-machine-token-not-on-record",
    file: `${source}/callers/rejected-token.ts`,
    find: "await deps.audit(\n    auditOf",
    replace: "await Promise.resolve(\n    auditOf",
    tests: [`${tests}/machines/machine-tokens.test.ts`],
  },
];
