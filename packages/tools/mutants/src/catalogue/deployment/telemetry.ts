import type { Mutant } from "../../mutant.ts";

const source = "packages/telemetry/src";
const log = "packages/telemetry/test/log.test.ts";

/** Secrets in logs and traces. */
export const telemetryMutants: readonly Mutant[] = [
  {
    name: "log-redaction-off",
    file: `${source}/redact.ts`,
    find: "hides(name, value) ? redacted : redact(value, depth + 1)",
    replace: "redact(value, depth + 1)",
    tests: [log],
  },
  {
    name: "log-lines-not-scrubbed",
    file: `${source}/logger.ts`,
    find: "hooks: { streamWrite: scrub },",
    replace: "hooks: { streamWrite: (line: string) => line },",
    tests: [log],
  },
  {
    name: "log-of-child-loggers-not-redacted",
    file: `${source}/logger.ts`,
    find: "inherited.child.call(this, redactFieldsOf(bindings), options)",
    replace: "inherited.child.call(this, bindings, options)",
    tests: [log],
  },
  {
    name: "spans-not-redacted",
    file: `${source}/span.ts`,
    find: 'isSecretName(name) ? redacted : typeof value === "string" ? scrub(value) : value',
    replace: "value",
    tests: ["packages/telemetry/test/span.test.ts", "packages/telemetry/test/tracing.test.ts"],
  },
  {
    name: "a-start-is-reported-as-an-outage",
    file: `${source}/readiness.ts`,
    find: "if (!complete && performance.now() - started < startMilliseconds) return result;",
    replace: "if (!complete && performance.now() < started) return result;",
    tests: ["packages/telemetry/test/management.test.ts"],
  },
];
