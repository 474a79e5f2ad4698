import type { Operation } from "@coffer/openapi";
import type { Mutation } from "./mutation.ts";
import { strangeTexts } from "./strange-values.ts";

const path = (name: string, change: (path: string) => string): Mutation => ({
  name,
  apply(request) {
    const [head = "", ...query] = request.target.split("?");
    request.target = [change(head), ...query].join("?");
  },
});

const query = (name: string, text: string): Mutation => ({
  name,
  apply(request) {
    request.target += `${request.target.includes("?") ? "&" : "?"}${text}`;
  },
});

/** Whole targets that no HTTP client would send. */
const target = (name: string, change: (target: string) => string): Mutation => ({
  name,
  apply(request) {
    request.target = change(request.target);
    request.breaksConnection = true;
  },
});

/** Segments that are no ids. */
const segments: readonly string[] = [
  "%00",
  "a%00b",
  "%",
  "%zz",
  "%ff%fe",
  "%c0%af",
  "%ed%a0%80",
  "%2F",
  "%2e%2e",
  "..",
  ".",
  "%20",
  "%0d%0aX:%20y",
  "%25",
  "*",
  "-",
  "null",
  "undefined",
  "0",
  "-1",
  "__proto__",
  "constructor",
  "toString",
  ":id",
  "{id}",
  "019A9E05-3333-7333-8333-333333333333",
  "00000000-0000-0000-0000-000000000000",
  "ffffffff-ffff-ffff-ffff-ffffffffffff",
  "019a9e05-3333-7333-8333-33333333333",
  "019a9e05-3333-7333-8333-333333333333%20",
  "AAAAAAAAAAAAAAAAAAAAAA",
  "-AAAAAAAAAAAAAAAAAAAAA",
  "%F0%9F%98%80",
  "a;b=c",
  "a=b",
  "x".repeat(5000),
  "%41".repeat(500),
  "e%CC%81".repeat(20),
];

/** Replaces one of the path parameters. */
export const segmentMutations: readonly Mutation[] = segments.map((segment) => ({
  name: `the segment ${segment.slice(0, 40)}`,
  apply(request, operation, random) {
    const [head = "", ...rest] = request.target.split("?");
    const parts = head.split("/");
    const places = operation.path.split("/").flatMap((part, at) => (part.startsWith("{") ? [at] : []));
    parts[places.length > 0 ? random.pick(places) : parts.length - 1] = segment;
    request.target = [parts.join("/"), ...rest].join("?");
  },
}));

export const pathMutations: readonly Mutation[] = [
  path("a slash at the end", (text) => `${text}/`),
  path("two slashes", (text) => text.replace(/\/([^/]*)$/, "//$1")),
  path("a slash before", (text) => `/${text}`),
  path("a dot segment", (text) => text.replace("/api/", "/api/./")),
  path("a way around", (text) => text.replace("/api/", "/api/x/../")),
  path("an encoded letter", (text) => text.replace("/api/", "/%61pi/")),
  path("an encoded slash", (text) => text.replace("/api/", "/api%2F")),
  path("capitals", (text) => text.toUpperCase()),
  path("one segment more", (text) => `${text}/x`),
  path("one segment fewer", (text) => text.replace(/\/[^/]*$/, "")),
  path("a semicolon", (text) => `${text};x=y`),
  path("a NUL at the end", (text) => `${text}%00`),
  path("a suffix", (text) => `${text}.json`),
  path("a broken escape", (text) => `${text}%`),
  path("a back slash", (text) => text.replaceAll("/", "\\")),
  path("8,000 slashes", (text) => text + "/".repeat(8000)),
  target("a fragment", (text) => text.replace(/\?|$/, "#x$&")),
  target("no slash first", (text) => text.slice(1)),
  target("a star", () => "*"),
  target("an authority", () => "127.0.0.1:80"),
  target("the absolute form", (text) => `http://other.example${text}`),
  target("bytes over 7F", (text) => `${text}\xff\xfe`),
  target("a blank inside", (text) => `${text} x`),
  target("a tab inside", (text) => `${text}\tx`),
  target("nothing", () => ""),
  target("20 KiB", (text) => `${text}?${"x".repeat(20_000)}`),
];

const cursor = (position: unknown): string => Buffer.from(JSON.stringify(position)).toString("base64url");
const first = { created_at: "0001-01-01T00:00:00.000000Z", uid: "" };

/** Invented values for a list's cursor. */
const cursors: readonly string[] = [
  cursor(null),
  cursor([]),
  cursor({}),
  cursor(first),
  cursor({ ...first, uid: "\0" }),
  cursor({ ...first, uid: "\ud800" }),
  cursor({ ...first, uid: "x".repeat(200) }),
  cursor({ ...first, created_at: "9999-12-31T23:59:59.999999Z" }),
  cursor({ ...first, created_at: "2026-11-20T24:00:00Z" }),
  cursor({ rank: 2 ** 53, title: "x", uid: "x" }),
  cursor({ rank: -1, title: "\0", uid: "\0" }),
  cursor({ rank: 0.5, title: "x", uid: "x" }),
  cursor({ rank: 2 ** 31, title: "\ud800", uid: "x" }),
  cursor({ after: -1 }),
  cursor({ after: 0 }),
  cursor({ after: 2 ** 53 }),
  cursor({ after: 1e300 }),
  Buffer.from("{").toString("base64url"),
  Buffer.from([0xff, 0xfe]).toString("base64url"),
];

const numbers: readonly string[] = [
  "",
  "0",
  "-1",
  "1001",
  "1e3",
  "0x10",
  "01",
  "1.0",
  " 1",
  "１",
  "9".repeat(400),
  "NaN",
];

const queryValues: readonly string[] = [
  ...cursors,
  ...numbers,
  "%00",
  "%ff",
  "%",
  "%ed%a0%80",
  "%F0%9F%98%80",
  "a%00b",
  "true",
  "null",
  "..%2f..",
  "%25%5F%5C",
  "%C5%89%C7%B0%CE%90%EF%AC%83".repeat(20),
  "x".repeat(3000),
];

const escapedTexts: readonly string[] = strangeTexts
  .map((strange) => strange.make().slice(0, 4000))
  .map((text) => encodeURIComponent(text.toWellFormed()));

/** A query parameter of the operation, or any other, with a strange value. */
export function queryMutations({ parameters }: Operation): Mutation[] {
  const names = parameters.flatMap((parameter) => (parameter.in === "query" ? [parameter.name] : []));
  return [
    ...names.flatMap((name) =>
      [...queryValues, ...escapedTexts].map((text) => query(`${name}=${text.slice(0, 30)}`, `${name}=${text}`)),
    ),
    ...names.flatMap((name) => [
      query(`${name} without a value`, name),
      query(`${name} twice`, `${name}=1&${name}=2`),
      query(`${name} a thousand times`, Array.from({ length: 1000 }, () => `${name}=1`).join("&")),
      query(`${name} as a list`, `${name}[]=1`),
      query(`${name} as an object`, `${name}[a]=1`),
    ]),
    query("strange names", "__proto__=1&constructor=2&toString=3&hasOwnProperty=4"),
    query("signs alone", "&&&===&?&#&;"),
    query("nothing", ""),
    query("a thousand names", Array.from({ length: 1000 }, (_, at) => `a${at}`).join("&")),
    query("broken escapes", "%=%zz&%00=%ff"),
  ];
}
