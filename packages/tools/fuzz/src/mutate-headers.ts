import type { Mutation } from "./mutation.ts";
import { setHeader } from "./request.ts";

const header = (name: string, value: string): Mutation => ({
  name: `${name}: ${value.slice(0, 40)}`,
  apply: (request) => setHeader(request, name, value),
});

/** Bytes that HTTP itself may refuse, or read as the end of the request. */
const breaking = (name: string, line: string): Mutation => ({
  name,
  apply(request) {
    const colon = line.indexOf(":");
    request.headers.push([line.slice(0, colon), line.slice(colon + 1)]);
    request.breaksConnection = true;
  },
});

const method = (name: string): Mutation => ({
  name: `the method ${JSON.stringify(name)}`,
  apply(request) {
    request.method = name;
    request.breaksConnection = true;
  },
});

const many = (name: string, count: number, line: (at: number) => [string, string]): Mutation => ({
  name,
  apply: (request) => void request.headers.push(...Array.from({ length: count }, (_, at) => line(at))),
});

export const headerMutations: readonly Mutation[] = [
  ...[
    "",
    "Bearer",
    "Bearer ",
    "Bearer  x",
    "bearer null",
    "Basic eDp5",
    "Bearer a.b.c",
    "Bearer ..",
    "\xff",
    "x".repeat(8000),
  ].map((value) => header("Authorization", value)),
  ...[
    "Bearer eyJhbGciOiJub25lIiwidHlwIjoiSldUIn0.eyJzdWIiOiJ4In0.",
    "Bearer eyJhbGciOiJFUzI1NiIsInR5cCI6IkpXVCJ9.bnVsbA.AAAA",
    "Bearer eyJhbGciOiJFUzI1NiIsInR5cCI6IkpXVCJ9.W10.AAAA",
    "Bearer bnVsbA.bnVsbA.bnVsbA",
    "Bearer eyJhbGciOiJFUzI1NiIsInR5cCI6IkpXVCJ9.eyJzdWIiOiIwMTlhOWUwNS0zMzMzLTczMzMtODMzMy0zMzMzMzMzMzMzMzMiLCJleHAiOjFlNDAwfQ.AAAA",
  ].map((value) => header("Authorization", value)),
  ...["", '"', '""', "*", "x", 'W/"x"', '"a","b"', '"\xff"', `"${"x".repeat(5000)}"`, ",,,", '"a" "b"'].flatMap(
    (value) => [header("If-Match", value), header("If-None-Match", value)],
  ),
  ...["", "x", "019a9e05-3333-7333-8333-333333333333", "\xff", "a, b", "../..", "x".repeat(5000)].map((value) =>
    header("X-Coffer-Org", value),
  ),
  ...["", " ", "x".repeat(129), "a b", "\xff", "{}", "a\tb"].map((value) => header("X-Request-Id", value)),
  ...["", "x", "1.2.3.4, x", "::1", "fe80::1%eth0", "1.2.3.4:80", ",".repeat(1000), "127.0.0.1, ".repeat(200)].map(
    (value) => header("X-Forwarded-For", value),
  ),
  ...["x", "", "secret"].map((value) => header("X-Coffer-Router", value)),
  ...["", "v1", "t=,v1=", "t=1,v1=00", "t=9999999999999,v1=00", "\xff", `t=1${",v1=00".repeat(900)}`].map((value) =>
    header("Stripe-Signature", value),
  ),
  ...["", "null", "https://evil.example", "x".repeat(3000), "\xff"].map((value) => header("Origin", value)),
  ...[
    "",
    "zz",
    "00-0-0-0",
    `00-${"0".repeat(32)}-${"0".repeat(16)}-00`,
    `00-${"f".repeat(32)}-${"f".repeat(16)}-ff`,
  ].map((value) => header("traceparent", value)),
  header("tracestate", "=,=,".repeat(300)),
  header("baggage", "a=%ff,b=%00;c".repeat(100)),
  ...["", "*/*;q=x", "text/html", "\xff"].map((value) => header("Accept", value)),
  header("Accept-Encoding", "gzip, br, *"),
  header("Accept-Language", "x".repeat(2000)),
  header("Range", "bytes=0-,-1,9-3"),
  header("If-Modified-Since", "never"),
  header("Cookie", "a=b; ".repeat(500)),
  ...["", "\xff".repeat(300), "%s${x}{{x}}", "x".repeat(3000), "\u00e9\u00fc"].map((value) =>
    header("User-Agent", value),
  ),
  ...["", "other.example", "127.0.0.1:99999", "[::1", "\xff", "a b"].map((value) => header("Host", value)),
  header("X-HTTP-Method-Override", "DELETE"),
  header("X-Original-URL", "/api/account"),
  header("Content-Type", "application/json"),
  header("Expect", "100-continue"),
  header("Expect", "something"),
  header("TE", "trailers, deflate"),
  header("Connection", "keep-alive, x-request-id"),
  many("a hundred headers", 100, (at) => [`X-${at}`, "x"]),
  many("three thousand headers", 3000, () => ["X", "y"]),
  many("an id twice", 2, (at) => ["X-Request-Id", `id-${at}`]),
  many("an organization twice", 2, () => ["X-Coffer-Org", "019a9e05-3333-7333-8333-333333333333"]),
  many("two authorizations", 2, () => ["Authorization", "Bearer x"]),
  many("two content types", 2, () => ["Content-Type", "text/plain"]),
  breaking("20 KiB in a header", `X-Large: ${"x".repeat(20_000)}`),
  breaking("a NUL in a header", "X-Odd: a\0b"),
  breaking("a line end in a header", "X-Odd: a\nX-Other: b"),
  breaking("a bare carriage return", "X-Odd: a\rb"),
  breaking("a folded header", "X-Odd: a\r\n b"),
  breaking("a blank in a header's name", "X Odd: a"),
  breaking("a header without a name", ": a"),
  breaking("a second host", "Host: other.example"),
  breaking("an upgrade", "Connection: Upgrade\r\nUpgrade: websocket"),
  breaking(
    "an upgrade to HTTP/2",
    "Connection: Upgrade, HTTP2-Settings\r\nUpgrade: h2c\r\nHTTP2-Settings: AAMAAABkAAQ",
  ),
  breaking("chunks and no chunk", "Transfer-Encoding: chunked"),
  breaking("an unknown transfer coding", "Transfer-Encoding: x, chunked"),
  breaking("the end of the connection", "Connection: close"),
  ...["HEAD", "OPTIONS", "TRACE", "PROPFIND", "CONNECT", "get", "X", "", "GET /x HTTP/1.1\r\n\r\nGET", "PURGE"].map(
    method,
  ),
  {
    name: "a preflight",
    apply(request) {
      request.method = "OPTIONS";
      request.headers.push(["Origin", "https://evil.example"], ["Access-Control-Request-Method", "DELETE\xff"]);
    },
  },
];
