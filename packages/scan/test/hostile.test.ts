import { gzipSync } from "node:zlib";
import t from "tap";
import { positionReader } from "../src/engine/positions.ts";
import { builtInRules } from "../src/index.ts";
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
// The compiler takes a while to see which loops matter.
for (let round = 0; round < 5; round += 1) seconds(repeated(source));
const harmless = best(repeated(source));

// Each bound is about four times what was measured on a quiet machine: a busy one can double it,
// and a quadratic input would take thousands of times as long. Source itself takes 1 ns a byte:
// nearly none of it is looked at twice. `AKIA` is a keyword, base64 and a readable text in base64
// at each fourth byte. Base64 of base64 is decoded at each of four offsets and searched again on
// each of four levels.
for (const [name, text, bound] of [
  ["a", "a", 4],
  ["-----BEGIN ", "-----BEGIN ", 4],
  ["-----BEGIN RSA PRIVATE KEY-----", "-----BEGIN RSA PRIVATE KEY-----\n", 120],
  ["xoxb-1-1-1-", "xoxb-1-1-1-", 40],
  ["AKIA", "AKIA", 280],
  ["ey.ey.ey.", "ey.ey.ey.", 4],
  ["eyJ", "eyJhbGciOi.", 50],
  ["secret_access_key", "aws_secret_access_key=", 70],
  ["https://a:b", "https://a:", 50],
  ["s://, with which many keywords end", "s://", 75],
  ["glpat-, which may stand inside its own token", "glpat-", 220],
  ["xoxd-, which may stand inside its own token", "xoxd-", 100],
  ["base64 of base64", "VFZaWVZtRldSbFpXUmxwV1VteGFWbEpzV2xaU2JGcFdVbXhhVmxKcw", 500],
  ["hexadecimal digits", "6162636465", 100],
  ["percent, four times", "%2525252541", 250],
  ["\\u0041", "\\u0041", 120],
  ["&#65;", "&#65;", 110],
  ["coffer:allow on one line", "coffer:allow ", 32],
] as const)
  await t.test(`${name}, repeated, takes at most ${bound} times as long as source of the same size`, (t) => {
    const ratio = best(repeated(text)) / harmless;
    t.ok(ratio < bound, `${ratio.toFixed(1)} times`);
    t.end();
  });

await t.test("no keyword of any rule, repeated, takes 400 times as long as source of the same size", (t) => {
  const length = size / 16;
  const keywords = new Set(builtInRules.flatMap((rule) => rule.keywords));
  const slow = [...keywords].flatMap((keyword) => {
    const ratio = (best(repeated(keyword, length)) / harmless) * 16;
    return ratio < 400 ? [] : [`${keyword}: ${ratio.toFixed(1)} times`];
  });
  t.same(slow, []);
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
    t.ok(ratio < 10, `${ratio.toFixed(1)} times`);
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
  t.ok(ratio < 25, `${ratio.toFixed(1)} times`);
  t.end();
});

await t.test("files that unpack to a hundred times their size, in base64, are not all unpacked", (t) => {
  const bomb = gzipSync(Buffer.alloc(4 * 1024 * 1024)).toString("base64");
  const ratio = best(Buffer.from(`${bomb};`.repeat(size / bomb.length))) / harmless;
  t.ok(ratio < 250, `${ratio.toFixed(1)} times`);
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
