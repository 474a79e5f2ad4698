import type { Mutant } from "../mutant.ts";

const source = "packages/http/src";

/** The border: what is let in, in which order it is judged, what an answer gives away. */
export const httpMutants: readonly Mutant[] = [
  {
    name: "caller-identified-before-the-limiter",
    file: `${source}/handlers.ts`,
    find: [
      "      await admit(limiter, row.bucket, exchange);",
      "      exchange.admitted = true;",
      "      const caller = await identify(row, deps, exchange);",
    ].join("\n"),
    replace: [
      "      const caller = await identify(row, deps, exchange);",
      "      await admit(limiter, row.bucket, exchange);",
      "      exchange.admitted = true;",
    ].join("\n"),
    tests: ["packages/http/test/rate-limit.test.ts"],
  },
  {
    name: "caller-of-a-slow-body-identified-once",
    file: `${source}/identify.ts`,
    find: "return row.body !== undefined && performance.now() - identifiedAt > holdsMilliseconds;",
    replace: "return row.body === undefined && performance.now() - identifiedAt > holdsMilliseconds;",
    tests: [
      "packages/http/test/slow-body.test.ts",
      "services/vaults/test/slow-bodies.test.ts",
      "services/auth-sm/test/ended-session-writes.test.ts",
    ],
  },
  {
    name: "body-one-byte-over-the-limit-accepted",
    file: `${source}/read-body.ts`,
    find: "if (length > limitBytes) {",
    replace: "if (length > limitBytes + 1) {",
    tests: ["packages/http/test/body.test.ts"],
  },
  {
    name: "announced-length-of-a-body-unchecked",
    file: `${source}/read-body.ts`,
    find: "if (announced > limitBytes)",
    replace: "if (announced > limitBytes + 1)",
    tests: ["packages/http/test/body.test.ts"],
  },
  {
    name: "body-of-another-type-read-as-json",
    file: `${source}/read-body.ts`,
    find: 'if (name.trim().toLowerCase() !== "application/json")',
    replace: 'if (name.trim() === "text/html")',
    tests: ["packages/http/test/body.test.ts"],
  },
  {
    name: "error-shows-what-went-wrong-inside",
    file: `${source}/refusal.ts`,
    find: '"something went wrong here; the request id finds it in the log"',
    replace: 'thrown instanceof Error ? thrown.message : "something went wrong here"',
    tests: ["packages/http/test/refusals.test.ts"],
  },
  {
    name: "refusal-without-retry-after",
    file: `${source}/refusal.ts`,
    find: 'headers.push("Retry-After",',
    replace: 'headers.push("X-Retry-After",',
    tests: ["packages/http/test/rate-limit.test.ts", "packages/http/test/refusals.test.ts"],
  },
  {
    name: "revoked-caller-told-that-a-path-is-unknown",
    file: `${source}/refuse.ts`,
    find: "confirm === undefined || ![400, 404, 413].includes(error.status)",
    replace: "confirm === undefined || ![400, 413].includes(error.status)",
    tests: ["packages/http/test/on-refused.test.ts", "packages/http/test/path.test.ts"],
  },
  {
    name: "caller-not-confirmed",
    file: `${source}/identify.ts`,
    find: "else await found.confirm();",
    replace: "",
    tests: ["packages/http/test/on-refused.test.ts", "packages/http/test/refusals.test.ts"],
  },
  {
    name: "denial-answered-before-it-is-on-record",
    file: `${source}/refuse.ts`,
    find: "      await onRefused(",
    replace: "      void onRefused(",
    tests: ["packages/http/test/on-refused.test.ts"],
  },
  {
    name: "any-origin-may-read-answers",
    file: `${source}/cors.ts`,
    find: "(answers.get(origin) ?? refused)",
    replace: '(answers.get(origin) ?? ["Vary", "Origin", "Access-Control-Allow-Origin", origin])',
    tests: ["packages/http/test/cors.test.ts"],
  },
  {
    name: "anybody-is-taken-for-the-router",
    file: `${source}/begin.ts`,
    find: "return bytes.length === secret.length && timingSafeEqual(bytes, secret);",
    replace: "return bytes.length === secret.length;",
    tests: [
      "packages/http/test/rate-limit.test.ts",
      "packages/http/test/serve.test.ts",
      "packages/http/test/request-id.test.ts",
    ],
  },
];
