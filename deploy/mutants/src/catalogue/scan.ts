import type { Mutant } from "../mutant.ts";

const source = "packages/scan/src";
const checks = "packages/scan/test/checks.test.ts";
const kinds = "packages/scan/test/kinds.test.ts";
const rules = "packages/scan/test/rules.test.ts";
const forms = "packages/scan/test/forms.test.ts";
const containers = "packages/scan/test/containers.test.ts";
const properties = "packages/scan/test/properties.test.ts";
const windows = "packages/scan/test/find-windows.test.ts";
const secondCorpus = "packages/scan/test/second-corpus.test.ts";
const formats = "packages/cli/test/scan-formats.test.ts";
const modes = "packages/cli/test/scan-modes.test.ts";

/** Secrets that the scanner would miss, show in its output, or confuse with others. */
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
    find: 'if (secretName.test(left)) return { confidence: "high" };',
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
    name: "scan-pair-across-parts-forgotten",
    file: `${source}/engine/pair-filter.ts`,
    find: "state.previous = previous;",
    replace: "state.previous = previous & 0;",
    tests: [windows],
  },
  {
    name: "scan-keywords-at-even-offsets-alone",
    file: `${source}/engine/pair-filter.ts`,
    find: "parity < 2; parity += 1",
    replace: "parity < 2; parity += 2",
    tests: [windows, properties],
  },
  {
    name: "scan-last-word-without-its-successor",
    file: `${source}/engine/find-windows.ts`,
    find: "(count >> 2) + (isLast ? 1 : 0)",
    replace: "(count + 3) >> 2",
    tests: [windows],
  },
  {
    name: "scan-encoded-texts-that-end-at-odd-offsets-alone",
    file: `${source}/decode/encoded-pairs.ts`,
    find: "(1 << (base64Length - 1)) | (1 << base64Length) | (1 << (hexadecimalTo - 1))",
    replace: "(1 << (base64Length - 1)) | (1 << (hexadecimalTo - 1))",
    tests: [windows],
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
    name: "scan-plain-option-that-turns-off-turns-on",
    file: "packages/cli/src/plain-words.ts",
    find: '!word.startsWith("--no-")',
    replace: "word.length > 0",
    tests: ["packages/cli/test/plain-words.test.ts"],
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
  {
    name: "scan-comment-of-the-line-before-does-not-count",
    file: `${source}/engine/allowed.ts`,
    find: "[lines[own], lines[own - 1]].some(",
    replace: "[lines[own]].some(",
    tests: ["packages/scan/test/allowed.test.ts"],
  },
  {
    name: "scan-encoded-archives-without-budget",
    file: `${source}/engine/scan-text.ts`,
    find: "Math.max(1, Math.min(mostUnpacked, budget.left))",
    replace: "mostUnpacked",
    tests: ["packages/scan/test/hostile.test.ts"],
  },
  {
    name: "scan-end-of-line-searched-for-each-finding",
    file: `${source}/engine/positions.ts`,
    find: "while (lineEnd < to) {",
    replace: "for (lineEnd = endOfLine(bytes, at); lineEnd < to;) {",
    tests: ["packages/scan/test/hostile.test.ts"],
  },
  {
    name: "scan-grafana-checksum-in-another-byte-order",
    file: `${source}/rules/monitoring.ts`,
    find: "bytes.writeUInt32LE(zlib().crc32(text));",
    replace: "bytes.writeUInt32BE(zlib().crc32(text));",
    tests: [secondCorpus],
  },
  {
    name: "scan-gitlab-checksum-not-compared",
    file: `${source}/rules/gitlab.ts`,
    find: "crc32Base36(secret.slice(0, -7)) === secret.slice(-7)",
    replace: "crc32Base36(secret.slice(0, -7)).length === 7",
    tests: [checks],
  },
  {
    name: "scan-age-checksum-not-compared",
    file: `${source}/checks/bech32.ts`,
    find: "polymod([...expanded(name), ...values]) === 1",
    replace: "polymod([...expanded(name), ...values]) >= 0",
    tests: [checks],
  },
  {
    name: "scan-encoded-value-without-its-name",
    file: `${source}/engine/scan-text.ts`,
    find: "const named = namedValue(cut.bytes, run);",
    replace: "const named = cut.bytes.length < 0 ? namedValue(cut.bytes, run) : undefined;",
    tests: [forms],
  },
  {
    name: "scan-value-below-its-name-not-known",
    file: `${source}/rules/context-rule.ts`,
    find: '"?(?:value|default',
    replace: '"?(?:valuex|defaultx',
    tests: [forms],
  },
  {
    name: "scan-regular-bodies-reported",
    file: `${source}/checks/placeholder.ts`,
    find: "return isRepeated(text) || hasSequence(text) || isPeriodic(text);",
    replace: "return isRepeated(text);",
    tests: [checks],
  },
  {
    name: "scan-zeros-in-long-bodies-are-placeholders",
    file: `${source}/checks/placeholder.ts`,
    find: "const shortText = 32;",
    replace: "const shortText = 32_000;",
    tests: [checks],
  },
  {
    name: "scan-documented-examples-reported",
    file: `${source}/engine/run-rule.ts`,
    find: "verdict === null || isDocumented(secret)",
    replace: "verdict === null",
    tests: [checks],
  },
  {
    name: "scan-words-are-tokens",
    file: `${source}/checks/words.ts`,
    find: "if (/^[A-Za-z_-]+$/.test(text)) return capitals <= text.length / 5;",
    replace: "if (/^[A-Za-z_-]+$/.test(text)) return capitals > text.length;",
    tests: [checks],
  },
  {
    name: "scan-tokens-inside-tokens-found",
    file: `${source}/rules/shape.ts`,
    find: "if (at < done || end - start < least",
    replace: "if (at < 0 || end - start < least",
    tests: [rules],
  },
  {
    name: "scan-short-stretches-of-digits-skipped",
    file: `${source}/decode/base64.ts`,
    find: "for (let last = leastDigits - 1; last < text.length; last += leastDigits) {",
    replace: "for (let last = leastDigits - 1; last < text.length; last += 2 * leastDigits) {",
    tests: [forms],
  },
];
