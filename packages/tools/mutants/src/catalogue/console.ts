import type { Mutant } from "../mutant.ts";

const service = "services/console/test/service.test.ts";
const headers = "packages/console/src/build/headers.ts";
const build = "packages/console/test/build.test.ts";
const manifest = "packages/console/src/build/manifest.ts";
const worker = "packages/console/src/worker";
const workerTest = "packages/console/test/worker.test.ts";
const people = "packages/console/test/people.test.ts";
const member = "packages/console/test/person.test.ts";
const person = "deploy/console/test/person.test.ts";
const injected = "deploy/console/test/injected.test.ts";
const session = "deploy/console/test/session.test.ts";

/** A page with a network or keys, and a service that serves other files. */
export const consoleMutants: readonly Mutant[] = [
  {
    name: "only-its-builder-may-read-the-console",
    file: "packages/console/src/build/build.ts",
    find: "chmodSync(partial, 0o755)",
    replace: "chmodSync(partial, 0o700)",
    tests: ["packages/console/test/build.test.ts"],
  },
  {
    name: "console-page-with-a-network",
    file: headers,
    find: `"connect-src 'none'",`,
    replace: `"connect-src 'self'",`,
    tests: [service, injected],
  },
  {
    name: "console-page-without-trusted-types",
    file: headers,
    find: `  "require-trusted-types-for 'script'",\n`,
    replace: "",
    tests: [service, injected],
  },
  {
    name: "console-worker-reaches-anything",
    file: headers,
    find: `"script-src 'self' 'wasm-unsafe-eval'", "connect-src 'self'"`,
    replace: `"script-src 'self' 'wasm-unsafe-eval'", "connect-src *"`,
    tests: [service],
  },
  {
    name: "console-serves-a-changed-file",
    file: manifest,
    find: "if (sha256(bytes) !== expected)",
    replace: "if (sha256(bytes).length !== expected.length)",
    tests: [build, service],
  },
  {
    name: "console-page-with-webrtc",
    file: "packages/console/src/page/harden.ts",
    find: '"RTCPeerConnection", ',
    replace: "",
    tests: [injected],
  },
  {
    name: "console-shows-secrets-unasked",
    file: `${worker}/calls.ts`,
    find: 'value: secret ? "" : value',
    replace: "value",
    tests: [person],
  },
  {
    name: "console-unlocks-with-any-password",
    file: `${worker}/lock.ts`,
    find: "const key = await lockKey(password, salt);",
    replace: "const key = await lockKey(password.slice(0, 0), salt);",
    tests: [person],
  },
  {
    name: "console-stays-in-other-tabs",
    file: `${worker}/session.ts`,
    find: "if (id !== undefined) otherWorkers.postMessage(id);",
    replace: "if (id === undefined) otherWorkers.postMessage(id);",
    tests: [injected],
  },
  {
    name: "console-tries-any-number-of-passwords",
    file: `${worker}/session.ts`,
    find: "tried.attempts += 1;",
    replace: "",
    tests: [session],
  },
  {
    name: "console-session-without-its-recovery-key",
    file: `${worker}/session.ts`,
    find: "registered === undefined || registered.recoveryKey !== recoveryKey",
    replace: "registered === undefined",
    tests: [session],
  },
  {
    name: "console-keeps-the-copy-of-a-locked-session",
    file: `${worker}/session.ts`,
    find: "else if (id !== undefined && !keepReplica) await finish(clearReplica(id));",
    replace: "",
    tests: [session],
  },
  {
    name: "console-imports-another-tabs-file",
    file: `${worker}/import-file.ts`,
    find: "if (plan?.id !== id)",
    replace: "if (plan === undefined)",
    tests: [session],
  },
  {
    name: "console-overwrites-a-newer-record",
    file: `${worker}/save-record.ts`,
    find: "{ unchangedSince: updatedAt }",
    replace: "{ unchangedSince: undefined }",
    tests: [person],
  },
  {
    name: "console-believes-the-service-whose-an-e-mail-is",
    file: `${worker}/people.ts`,
    find: "named?.get(id) ?? email",
    replace: "email",
    tests: [people],
  },
  {
    name: "console-hides-who-is-still-in-the-history",
    file: `${worker}/people.ts`,
    find: "return [...shown, ...ended];",
    replace: "return ended.length === 0 ? shown : shown;",
    tests: [people],
  },
  {
    name: "console-confirms-a-key-that-nobody-compared",
    file: `${worker}/person.ts`,
    find: " && holder.fingerprint.words === words",
    replace: " && holder.fingerprint.words !== ''",
    tests: [member],
  },
  {
    name: "console-confirms-a-second-member-of-an-e-mail",
    file: `${worker}/person.ts`,
    find: "isTaken !== true && ",
    replace: "",
    tests: [member],
  },
  {
    name: "console-names-another-organization-than-it-signs-for",
    file: `${worker}/people.ts`,
    find: "organizations.find(({ id }) => id === signedFor.id);",
    replace: "organizations[0];",
    tests: [people],
  },
  {
    name: "console-codes-of-the-next-step",
    file: `${worker}/one-time-code.ts`,
    find: "Math.floor(now / 1000 / periodSeconds)",
    replace: "Math.ceil(now / 1000 / periodSeconds)",
    tests: [workerTest],
  },
  {
    name: "console-passwords-lean-to-early-letters",
    file: `${worker}/new-password.ts`,
    find: "sets.every((set) =>",
    replace: "sets.some((set) =>",
    tests: [workerTest],
  },
  {
    name: "console-forgets-how-far-the-audit-was-verified",
    file: `${worker}/audit.ts`,
    find: "    expected,\n",
    replace: "    expected: undefined,\n",
    tests: ["deploy/console/test/audit.test.ts"],
  },
  {
    name: "console-remembers-a-broken-audit",
    file: `${worker}/audit.ts`,
    find: "if (broken === undefined) await verified.save(head);",
    replace: "await verified.save(head);",
    tests: ["deploy/console/test/audit.test.ts"],
  },
  {
    name: "console-lock-opens-with-the-password-before",
    file: `${worker}/session.ts`,
    find: "if (open !== undefined) open.key = key;",
    replace: "void key;",
    tests: ["deploy/console/test/account.test.ts"],
  },
  {
    name: "console-trusts-what-nobody-compared",
    file: `${worker}/trust.ts`,
    find: "JSON.stringify(seen) === JSON.stringify(compared)",
    replace: "seen.length === compared.length",
    tests: ["packages/console/test/trust.test.ts"],
  },
  {
    name: "console-trusts-a-history-when-it-is-shown",
    file: `${worker}/trust.ts`,
    find: "      shown = seen;\n      return false;",
    replace: "      shown = seen;\n      return true;",
    tests: ["packages/console/test/trust.test.ts"],
  },
  {
    name: "console-loads-messages-without-their-hash",
    file: "packages/console/src/page/load-module.ts",
    find: "  link.integrity = linked.integrity;\n",
    replace: "",
    tests: [injected],
  },
  {
    name: "console-compared-without-its-headers",
    file: "packages/cli/src/commands/console.ts",
    find: "answer.headers.get(name) !== value",
    replace: "answer.headers.get(name) !== value && value === name",
    tests: ["packages/cli/test/console-verify.test.ts"],
  },
  {
    name: "console-compared-at-one-path-only",
    file: "packages/cli/src/commands/console.ts",
    find: '(file.kind === "page" ? pages : [`/${file.path}`])',
    replace: '(file.kind === "page" ? pages.slice(0, 1) : [`/${file.path}`])',
    tests: ["packages/cli/test/console-verify.test.ts"],
  },
  {
    name: "matrix-gives-the-page-its-values",
    file: "packages/console/src/worker/matrix.ts",
    find: "rows: sorted.map(({ title, field, copy, cells }) => ({ title, field, copy, cells }))",
    replace: "rows: sorted",
    tests: ["deploy/console/test/matrix.test.ts"],
  },
];
