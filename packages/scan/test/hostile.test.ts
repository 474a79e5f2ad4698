import t from "tap";
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

// Generous: an input that is quadratic takes thousands of times as long, and encodings inside encodings are searched on each level.
const most = 80;
for (const [name, text] of [
  ["a", "a"],
  ["-----BEGIN ", "-----BEGIN "],
  ["-----BEGIN RSA PRIVATE KEY-----", "-----BEGIN RSA PRIVATE KEY-----\n"],
  ["xoxb-1-1-1-", "xoxb-1-1-1-"],
  ["AKIA", "AKIA"],
  ["ey.ey.ey.", "ey.ey.ey."],
  ["eyJ", "eyJhbGciOi."],
  ["secret_access_key", "aws_secret_access_key="],
  ["https://a:b", "https://a:"],
  ["base64 of base64", "VFZaWVZtRldSbFpXUmxwV1VteGFWbEpzV2xaU2JGcFdVbXhhVmxKcw"],
  ["percent", "%2525252541"],
  ["\\u0041", "\\u0041"],
] as const)
  await t.test(`${name}, repeated, takes about as long as source of the same size`, (t) => {
    const ratio = best(repeated(text)) / harmless;
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
