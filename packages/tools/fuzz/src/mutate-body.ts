import { gzipSync } from "node:zlib";
import type { Random } from "@coffer/testkit";
import type { Mutation } from "./mutation.ts";
import { setHeader } from "./request.ts";

const bytes = (name: string, change: (body: Buffer, random: Random) => Buffer): Mutation => ({
  name,
  apply(request, _, random) {
    request.body = change(request.body ?? Buffer.from("{}"), random);
    if (!request.headers.some(([header]) => header.toLowerCase() === "content-type"))
      setHeader(request, "Content-Type", "application/json");
  },
});

const type = (content: string): Mutation => ({
  name: `the content type ${content}`,
  apply: (request) => setHeader(request, "Content-Type", content),
});

const coding = (name: string, content: string, change: (body: Buffer) => Buffer): Mutation => ({
  name,
  apply(request) {
    setHeader(request, "Content-Encoding", content);
    request.body = change(request.body ?? Buffer.from("{}"));
  },
});

const length = (name: string, change: (body: Buffer) => string): Mutation => ({
  name,
  apply(request) {
    request.announced = change(request.body ?? Buffer.alloc(0));
    request.breaksConnection = true;
  },
});

const latin = (text: string): Buffer => Buffer.from(text, "latin1");
const mebibyte = 1024 * 1024;

export const bodyMutations: readonly Mutation[] = [
  bytes("no bytes", () => Buffer.alloc(0)),
  bytes("a blank", () => latin(" ")),
  bytes("half of it", (body) => body.subarray(0, body.length >> 1)),
  bytes("all but the last byte", (body) => body.subarray(0, -1)),
  bytes("it twice", (body) => Buffer.concat([body, body])),
  bytes("a comma too many", (body) => latin(body.toString("latin1").replace(/\}$/, ",}"))),
  bytes("a comment", (body) => Buffer.concat([latin("/* x */"), body])),
  bytes("a byte order mark", (body) => Buffer.concat([Buffer.from([0xef, 0xbb, 0xbf]), body])),
  bytes("UTF-16", (body) => Buffer.from(body.toString("utf8"), "utf16le")),
  bytes("bytes that are no UTF-8", (body) => latin(body.toString("latin1").replace(/[a-z]/, "\xff\xfe\xc0\x80"))),
  bytes("an overlong slash", (body) => latin(body.toString("latin1").replace(/[a-z]/, "\xc0\xaf"))),
  bytes("a NUL at the end", (body) => Buffer.concat([body, Buffer.from([0])])),
  bytes("a text", () => latin('"text"')),
  bytes("a number", () => latin("1e999")),
  bytes("null", () => latin("null")),
  bytes("a list", (body) => Buffer.concat([latin("["), body, latin("]")])),
  bytes("a form", () => latin("name=x&role=owner")),
  bytes("XML", () => latin("<?xml version='1.0'?><!DOCTYPE a [<!ENTITY b SYSTEM 'file:///etc/passwd'>]><a>&b;</a>")),
  bytes("a flipped byte", (body, random) => {
    const flipped = Buffer.from(body);
    const at = random.below(Math.max(1, flipped.length));
    if (at < flipped.length) flipped[at] = random.below(256);
    return flipped;
  }),
  bytes("random bytes", (_, random) => random.bytes(1 + random.below(300))),
  bytes("100,000 brackets", () => latin("[".repeat(100_000))),
  bytes("100,000 levels", () => latin("[".repeat(100_000) + "]".repeat(100_000))),
  bytes("1 MiB of blanks before it", (body) =>
    Buffer.concat([Buffer.alloc(Math.max(0, mebibyte - body.length), 0x20), body]),
  ),
  bytes("one byte over 1 MiB", () => Buffer.alloc(mebibyte + 1, 0x20)),
  bytes("a number of 500,000 digits", () => latin(`{"a":${"9".repeat(500_000)}}`)),
  bytes("50,000 fields", () => latin(`{${Array.from({ length: 50_000 }, (_, at) => `"k${at}":0`).join(",")}}`)),
  type("text/plain"),
  type("application/x-www-form-urlencoded"),
  type("multipart/form-data; boundary=x"),
  type("application/json; charset=utf-16"),
  type("application/json; charset=latin1"),
  type("application/json;;;"),
  type("application/jsonx"),
  type('APPLICATION/JSON ; Charset="UTF-8"'),
  type("application/json, text/html"),
  type(""),
  type("\xff"),
  coding("gzip", "gzip", (body) => gzipSync(body)),
  coding("gzip in capitals", " GZIP ", (body) => gzipSync(body)),
  coding("no gzip called gzip", "gzip", (body) => body),
  coding("half of a gzip", "gzip", (body) => gzipSync(body).subarray(0, 12)),
  coding("a gzip of 20 MiB", "gzip", () => gzipSync(Buffer.alloc(20 * mebibyte))),
  coding("gzip twice", "gzip, gzip", (body) => gzipSync(gzipSync(body))),
  coding("brotli", "br", (body) => body),
  coding("deflate", "deflate", (body) => body),
  coding("an unknown coding", "x\u00e9", (body) => body),
  length("more announced than sent", (body) => String(body.length + 10)),
  length("less announced than sent", (body) => String(Math.max(0, body.length - 10))),
  length("a negative length", () => "-1"),
  length("a length in words", () => "ten"),
  length("a length of 2^63", () => "9223372036854775808"),
  length("two lengths", (body) => `${body.length}\r\nContent-Length: 0`),
  length("a length and chunks", (body) => `${body.length}\r\nTransfer-Encoding: chunked`),
  { name: "chunks", apply: (request) => void (request.chunked = true) },
  {
    name: "broken chunks",
    apply(request) {
      request.announced = "";
      request.body = latin("zz\r\n{}\r\n0\r\n\r\n");
      request.headers.push(["Transfer-Encoding", "chunked"]);
      request.breaksConnection = true;
    },
  },
];
