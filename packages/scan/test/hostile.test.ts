import { gzipSync } from "node:zlib";
import t from "tap";
import { positionReader } from "../src/engine/positions.ts";
import { scanPlain } from "../src/scan-plain.ts";
import { engine, exampleOf } from "./harness.ts";

const size = 4 * 1024 * 1024;
const repeated = (text: string, length = size): Buffer => Buffer.alloc(length, text);
const source = "export function add(left: number, right: number): number {\n  return left + right; // the sum\n}\n";

/** Seconds of this thread's own processor time, which other processes do not change much. */
function seconds(bytes: Buffer): number {
  const before = process.cpuUsage();
  scanPlain(engine, { bytes, openStart: false, openEnd: false }, { path: "input" });
  const { user, system } = process.cpuUsage(before);
  return (user + system) / 1e6;
}

const best = (bytes: Buffer): number => Math.min(seconds(bytes), seconds(bytes), seconds(bytes));
const harmless = best(repeated(source));

// Generous: an input that is quadratic takes thousands of times as long. The six inputs that are named first in the design, and all
// others, stay below; only base64 of base64 is decoded at each offset and searched again on each of four levels.
const most = 100;
const mostNested = 300;
for (const [name, text, bound] of [
  ["a", "a"],
  ["-----BEGIN ", "-----BEGIN "],
  ["-----BEGIN RSA PRIVATE KEY-----", "-----BEGIN RSA PRIVATE KEY-----\n"],
  ["xoxb-1-1-1-", "xoxb-1-1-1-"],
  ["AKIA", "AKIA"],
  ["ey.ey.ey.", "ey.ey.ey."],
  ["eyJ", "eyJhbGciOi."],
  ["secret_access_key", "aws_secret_access_key="],
  ["https://a:b", "https://a:"],
  ["base64 of base64", "VFZaWVZtRldSbFpXUmxwV1VteGFWbEpzV2xaU2JGcFdVbXhhVmxKcw", mostNested],
  ["percent", "%2525252541"],
  ["\\u0041", "\\u0041"],
  ["coffer:allow on one line", "coffer:allow "],
] as readonly (readonly [name: string, text: string, bound?: number])[])
  await t.test(`${name}, repeated, takes about as long as source of the same size`, (t) => {
    const ratio = best(repeated(text)) / harmless;
    t.ok(ratio < (bound ?? most), `${ratio.toFixed(1)} times`);
    t.end();
  });

/** That many bytes of different examples of a rule. */
function examples(id: string, separator: string, length: number): Buffer {
  const parts: string[] = [];
  for (let made = 0, seed = 1; made < length; made += (parts.at(-1) ?? "").length, seed += 1)
    parts.push(`${exampleOf(id, seed)}${separator}`);
  return Buffer.from(parts.join(""));
}

const allowed = (length: number): Buffer => repeated("coffer:allow x ", length);
for (const [name, make] of [
  ["tokens on lines", (length) => examples("github-personal-token", "\n", length)],
  ["tokens on one line", (length) => examples("github-personal-token", " ", length)],
  ["access keys, of which each looks for its secret key", (length) => examples("aws-access-key-id", "\n", length)],
  [
    "comments that allow, and tokens, on one line",
    (length) => Buffer.concat([allowed(length / 2), examples("github-personal-token", " ", length / 2)]),
  ],
  [
    "a wrapped encoding with tokens inside",
    (length) => {
      const text = examples("github-personal-token", "\n", length / 2).toString("base64");
      return Buffer.from(text.replace(/.{76}/g, "$&\n"));
    },
  ],
] as readonly (readonly [name: string, make: (length: number) => Buffer])[])
  await t.test(`${name}: four times as many findings take about four times as long`, (t) => {
    const ratio = best(make(512 * 1024)) / best(make(128 * 1024));
    t.ok(ratio < 9, `${ratio.toFixed(1)} times`);
    t.end();
  });

await t.test("thousands of positions in one line take little longer than one", (t) => {
  const line = repeated("a", 32 * 1024 * 1024);
  const read = (count: number): number => {
    const before = process.cpuUsage();
    const position = positionReader(line);
    for (let index = 1; index <= count; index += 1) position((line.length / count) * index);
    const { user, system } = process.cpuUsage(before);
    return (user + system) / 1e6;
  };
  const ratio = Math.min(read(4096), read(4096)) / Math.min(read(1), read(1));
  t.ok(ratio < most, `${ratio.toFixed(1)} times`);
  t.end();
});

await t.test("files that unpack to a hundred times their size, in base64, are not all unpacked", (t) => {
  const bomb = gzipSync(Buffer.alloc(4 * 1024 * 1024)).toString("base64");
  const ratio = best(Buffer.from(`${bomb};`.repeat(size / bomb.length))) / harmless;
  t.ok(ratio < most, `${ratio.toFixed(1)} times`);
  t.end();
});

await t.test("a line of 20 MB is scanned, and a secret at its end has its column", (t) => {
  const token = exampleOf("github-personal-token");
  const line = repeated("var a=1;", 20 * 1024 * 1024);
  const { occurrences } = scanPlain(
    engine,
    { bytes: Buffer.concat([line, Buffer.from(` ${token}`)]), openStart: false, openEnd: false },
    { path: "input" },
  );
  t.match(occurrences, [{ location: { start_line: 1, start_column: line.length + 2 } }]);
  t.end();
});
