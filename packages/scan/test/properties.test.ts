import t from "tap";
import { builtInRules } from "../src/index.ts";
import { seededRandom } from "../src/examples/random.ts";
import { scanPlain } from "../src/scan-plain.ts";
import type { Occurrence } from "../src/index.ts";
import { engine } from "./harness.ts";

const random = seededRandom(11);
const prose = [
  "const value = 1;",
  "// a comment about nothing",
  "",
  "  return compute(left, right) / 2;",
  '{"name": "value"}',
];
const fillers = (lines: number): string =>
  Array.from({ length: lines }, () => prose[random.below(prose.length)] ?? "").join("\n");
const found = (bytes: Buffer, openStart = false, openEnd = false) =>
  scanPlain(engine, { bytes, openStart, openEnd }, { path: "input", showSecrets: true }).occurrences;
const secrets = (occurrences: readonly Occurrence[]): string[] =>
  occurrences.map(({ rule_id, secret }) => `${rule_id} ${secret ?? ""}`).sort();

// The rules whose confidence does not depend on what stands around.
const examples = builtInRules
  .filter(({ optIn }) => optIn !== true)
  .map((rule) => ({ rule, text: rule.examples.positive(random)[0] ?? "" }));

await t.test("a secret is found alone and among others alike", (t) => {
  for (let round = 0; round < 20; round += 1) {
    const chosen = Array.from({ length: 12 }, () => examples[random.below(examples.length)]).filter(
      (each) => each !== undefined,
    );
    const text = chosen.map(({ text: each }) => `${fillers(8)}\n${each}\n`).join(fillers(3));
    const alone = chosen.flatMap(({ text: each }) => secrets(found(Buffer.from(`\n${each}\n`, "latin1"))));
    const together = secrets(found(Buffer.from(text, "latin1")));
    for (const each of alone) t.ok(together.includes(each), each.split(" ", 1).join());
    for (const each of together) t.ok(alone.includes(each), `nothing else: ${each.split(" ", 1).join()}`);
  }
  t.end();
});

await t.test("a text in two pieces with overlap gives what it gives whole, wherever it is cut", (t) => {
  const overlap = 20 * 1024;
  const pieces = examples.filter((_, index) => index % 5 === 0).map(({ text }) => `${fillers(4)}\n${text}\n`);
  const whole = Buffer.from(pieces.join(""), "latin1");
  const expected = secrets(found(whole));
  t.ok(expected.length > 20);
  for (let round = 0; round < 60; round += 1) {
    const cut = random.below(whole.length);
    const firstEnd = Math.min(whole.length, cut + overlap);
    const secondStart = Math.max(0, cut - overlap);
    const first = scanPlain(
      engine,
      { bytes: whole.subarray(0, firstEnd), openStart: false, openEnd: firstEnd < whole.length },
      { path: "input", showSecrets: true },
      { from: 0, to: cut },
    ).occurrences;
    const second = scanPlain(
      engine,
      { bytes: whole.subarray(secondStart), openStart: secondStart > 0, openEnd: false },
      { path: "input", showSecrets: true },
      { from: cut - secondStart, to: whole.length - secondStart },
    ).occurrences;
    t.same([...secrets(first), ...secrets(second)].sort(), expected, `cut at ${cut}`);
  }
  t.end();
});

await t.test("a text that was cut out of the middle reports nothing that its edge cuts through", (t) => {
  for (const { rule, text } of examples.filter(({ text: each }) => /^[A-Za-z0-9]/.test(each))) {
    const atStart = ({ location }: Occurrence): boolean => location.start_column === 1 && location.start_line === 1;
    t.same(found(Buffer.from(`${text} `, "latin1"), true, false).filter(atStart), [], rule.id);
    const ends = found(Buffer.from(` ${text}`, "latin1"), false, true).map(({ secret = "" }) => secret);
    t.notOk(
      ends.some((secret) => text.endsWith(secret)),
      rule.id,
    );
  }
  t.end();
});

await t.test("where a secret stands in a text changes its place alone", (t) => {
  for (const { rule, text } of examples) {
    const expected = secrets(found(Buffer.from(`\n${text}\n`, "latin1")));
    for (const before of [1, 2, 31, 4096, 16_384 - 20, 16_384 - 5, 16_384 + 7, 65_530]) {
      const bytes = Buffer.from(`${" ".repeat(before)}\n${text}\n${" ".repeat(random.below(40_000))}`, "latin1");
      t.same(secrets(found(bytes)), expected, `${rule.id} behind ${before}`);
    }
  }
  t.end();
});
