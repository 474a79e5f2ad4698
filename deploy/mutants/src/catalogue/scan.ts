import type { Mutant } from "../mutant.ts";

const source = "packages/scan/src";
const checks = "packages/scan/test/checks.test.ts";
const kinds = "packages/scan/test/kinds.test.ts";
const rules = "packages/scan/test/rules.test.ts";
const forms = "packages/scan/test/forms.test.ts";
const containers = "packages/scan/test/containers.test.ts";
const properties = "packages/scan/test/properties.test.ts";
const formats = "packages/cli/test/scan-formats.test.ts";
const modes = "packages/cli/test/scan-modes.test.ts";

/** Secrets that the scanner would miss, shows in its output, or takes for others. */
export const scanMutants: readonly Mutant[] = [
  {
    name: "scan-checksum-of-tokens-not-compared",
    file: `${source}/checks/base62.ts`,
    find: "return crc32Base62(body.slice(0, -6)) === body.slice(-6);",
    replace: "return crc32Base62(body.slice(0, -6)).length === body.slice(-6).length;",
    tests: [checks],
  },
  {
    name: "scan-wrong-checksum-stays-high",
    file: `${source}/rules/github.ts`,
    find: '{ confidence: "low", checksum: "invalid" }',
    replace: '{ confidence: "high", checksum: "invalid" }',
    tests: [checks],
  },
  {
    name: "scan-fine-grained-checksum-of-fewer-characters",
    file: `${source}/rules/github.ts`,
    find: "update(token.slice(0, 77))",
    replace: "update(token.slice(0, 76))",
    tests: [checks],
  },
  {
    name: "scan-account-from-other-bits",
    file: `${source}/checks/aws-account.ts`,
    find: ">> 7n)",
    replace: ">> 6n)",
    tests: [checks],
  },
  {
    name: "scan-fingerprint-without-lengths",
    file: `${source}/checks/fingerprint.ts`,
    find: "hash.update(length).update(part);",
    replace: "hash.update(part);",
    tests: [checks],
  },
  {
    name: "scan-no-entropy-cut-off",
    file: `${source}/engine/run-rule.ts`,
    find: "entropy(body) < rule.minEntropy",
    replace: "entropy(body) < 0 * rule.minEntropy",
    tests: [kinds],
  },
  {
    name: "scan-placeholders-reported",
    file: `${source}/engine/run-rule.ts`,
    find: "if (isPlaceholder(body)) return null;",
    replace: "",
    tests: [rules, kinds],
  },
  {
    name: "scan-secret-key-without-context",
    file: `${source}/rules/aws.ts`,
    find: 'if (secretName.test(before(160))) return { confidence: "high" };',
    replace: 'if (before(160).length >= 0) return { confidence: "high" };',
    tests: [kinds, rules],
  },
  {
    name: "scan-pair-in-six-lines",
    file: `${source}/scan-plain.ts`,
    find: "const pairedLines = 5;",
    replace: "const pairedLines = 6;",
    tests: [kinds],
  },
  {
    name: "scan-rsa-modulus-not-checked",
    file: `${source}/checks/private-key.ts`,
    find: "modulus === first * second",
    replace: "modulus > first",
    tests: [checks],
  },
  {
    name: "scan-match-at-a-cut-edge",
    file: `${source}/engine/run-rule.ts`,
    find: "if (start === 0 && (from > 0 || cut.openStart)) continue;",
    replace: "",
    tests: [properties],
  },
  {
    name: "scan-halves-do-not-overlap",
    file: `${source}/engine/find-windows.ts`,
    find: "Math.min(bytes.length, at + stretch), overlap, halves",
    replace: "Math.min(bytes.length, at + stretch), overlap - overlap, halves",
    tests: [properties],
  },
  {
    name: "scan-columns-in-bytes",
    file: `${source}/engine/positions.ts`,
    find: "const utf8 = isUtf8(bytes);",
    replace: "const utf8 = isUtf8(bytes) && bytes.length < 0;",
    tests: [forms],
  },
  {
    name: "scan-base64-at-one-offset",
    file: `${source}/decode/base64.ts`,
    find: "for (let offset = 0; offset < 4; offset += 1) {\n    let from = -1;",
    replace: "for (let offset = 0; offset < 1; offset += 1) {\n    let from = -1;",
    tests: [forms],
  },
  {
    name: "scan-bomb-unpacks-without-bound",
    file: `${source}/containers/limits.ts`,
    find: "if (this.#bytes > this.#most) throw this.tooMuch();",
    replace: "",
    tests: [containers],
  },
  {
    name: "scan-secret-in-the-report",
    file: `${source}/engine/describe.ts`,
    find: "redacted: `${shownPrefix(rule, secret)}***`,",
    replace: "redacted: secret,",
    tests: [kinds, formats],
  },
  {
    name: "scan-incomplete-is-clean",
    file: "packages/cli/src/commands/scan.ts",
    find: "if (problems.length > 0) return scanExitCodes.incomplete;",
    replace: "",
    tests: [modes],
  },
  {
    name: "scan-staged-reports-old-lines",
    file: "packages/cli/src/scan/added-lines.ts",
    find: "return lines.some(([first, last]) => location.start_line <= last && location.end_line >= first);",
    replace: "return lines.some(([first]) => first > 0);",
    tests: [modes],
  },
];
