import type { Mutant } from "../../mutant.ts";

const source = "services/scanner/src";
const identified = "services/auth-sm/test/machines/identify-machine.test.ts";
const scans = "services/scanner/test/scan.test.ts";
const authorization = "services/scanner/test/authorization.test.ts";
const queue = "services/scanner/test/queue.test.ts";
const bounds = "services/scanner/test/bounds.test.ts";
const nothingKept = "services/scanner/test/nothing-kept.test.ts";

/** The scanner service: its callers, its limits, its storage. */
export const scannerMutants: readonly Mutant[] = [
  {
    name: "scanner-machine-from-any-address",
    file: "services/auth-sm/src/machine/identify-for-scanner.ts",
    find: "route, ip, userAgent, time };",
    replace: 'route, ip: ip && "127.0.0.1", userAgent, time };',
    tests: [identified],
  },
  {
    name: "scanner-refused-machine-not-recorded",
    file: "services/auth-sm/src/machine/identify-for-scanner.ts",
    find: "if (error instanceof ServiceError) await",
    replace: "if (error instanceof ServiceError && error.status < 400) await",
    tests: [identified],
  },
  {
    name: "scanner-identify-for-every-service",
    file: "packages/events/src/scanner-subjects.ts",
    find: 'callers: only("scanner"),',
    replace: 'callers: only("scanner", "vaults"),',
    tests: [identified],
  },
  {
    name: "scanner-for-an-organization-of-others",
    file: `${source}/callers/acting-org.ts`,
    find: "if (membership === null && caller.orgId === undefined) return null;",
    replace: "if (membership === null) return null;",
    tests: [authorization],
  },
  {
    name: "scanner-for-suspended-members",
    file: `${source}/callers/acting-org.ts`,
    find: "return requireActive(membership).org_id;",
    replace: 'return requireActive(membership && { ...membership, status: "active" }).org_id;',
    tests: [authorization],
  },
  {
    name: "scanner-for-ended-sessions",
    file: "packages/service/src/membership.ts",
    find: "if (!answer.session_active) throw",
    replace: 'if (!answer.session_active && caller.userId === "") throw',
    tests: [authorization],
  },
  {
    name: "scanner-denial-not-recorded",
    file: `${source}/refusals.ts`,
    find: "status !== 403 ||",
    replace: "status !== 404 ||",
    tests: [authorization],
  },
  {
    name: "scanner-machine-in-no-organization",
    file: `${source}/callers/acting-org.ts`,
    find: 'if (caller.kind === "machine") return orgOfMachine(caller);',
    replace: 'if (caller.kind === "machine") return null;',
    tests: [authorization],
  },
  {
    name: "scanner-machine-for-an-organization-of-others",
    file: `${source}/callers/acting-org.ts`,
    find: "if (chosenOrgId === orgId) return orgId;",
    replace: "if (chosenOrgId !== '') return orgId;",
    tests: [authorization],
  },
  {
    name: "scanner-tokens-of-people-to-auth-sm",
    file: "packages/tokens/src/is-for-person.ts",
    find: '["aud"] === userAudience',
    replace: '["iss"] === userAudience',
    tests: [authorization],
  },
  {
    name: "scanner-answer-before-the-record",
    file: `${source}/scan/scan.ts`,
    find: "await recordAudit(deps, record);",
    replace: "void recordAudit(deps, record).catch(() => undefined);",
    tests: [queue],
  },
  {
    name: "scanner-queue-without-end",
    file: `${source}/pool/pool.ts`,
    find: "waiting.length < mostWaiting",
    replace: "waiting.length < mostWaiting * 1000",
    tests: [queue],
  },
  {
    name: "scanner-large-body-before-the-queue",
    file: `${source}/routes.ts`,
    find: "    permit: requireRoom,\n",
    replace: "",
    tests: [queue],
  },
  {
    name: "scanner-scan-without-end",
    file: `${source}/pool/thread.ts`,
    find: 'it takes too long"), mostMilliseconds)',
    replace: 'it takes too long"), 1000 * mostMilliseconds)',
    tests: [nothingKept, bounds],
  },
  {
    name: "scanner-answer-of-any-size",
    file: `${source}/pool/scan-job.ts`,
    find: "left.bytes -= bytes;",
    replace: "left.bytes -= 0;",
    tests: [bounds],
  },
  {
    name: "scanner-texts-of-any-size",
    file: `${source}/scan/body.ts`,
    find: "if (bytes > mostBytes)",
    replace: "if (bytes > 2 * mostBytes)",
    tests: [scans],
  },
  {
    name: "scanner-more-documents",
    file: `${source}/scan/body.ts`,
    find: "const mostDocuments = 100;",
    replace: "const mostDocuments = 101;",
    tests: [scans],
  },
  {
    name: "scanner-larger-requests-over-the-bus",
    file: "packages/events/src/scanner-subjects.ts",
    find: "0) <= mostBytes;",
    replace: "0) <= mostBytes + 1;",
    tests: [scans],
  },
  {
    name: "scanner-archives-without-bound",
    file: `${source}/pool/scan-job.ts`,
    find: "bytes: 32 * mebibyte, ratio: 20,",
    replace: "bytes: 3200 * mebibyte, ratio: 20_000,",
    tests: [bounds],
  },
  {
    name: "scan-archive-of-archives-begins-anew",
    file: "packages/scan/src/containers/limits.ts",
    find: "this.#bytes = Infinity;",
    replace: "this.#bytes += 0;",
    tests: ["packages/scan/test/containers.test.ts"],
  },
];
