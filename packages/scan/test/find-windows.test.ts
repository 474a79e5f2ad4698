import t from "tap";
import { mayEncode } from "../src/decode/base64.ts";
import { createEngine } from "../src/engine/create-engine.ts";
import { findWindows } from "../src/engine/find-windows.ts";
import { seededRandom } from "../src/examples/random.ts";
import type { Rule } from "../src/rule.ts";

const random = seededRandom(5);

function ruleFor(keyword: string, anyCase: boolean): Rule {
  return {
    id: keyword,
    kind: "test",
    description: "a test",
    reference: "https://example.com",
    keywords: [keyword],
    anyCase,
    window: { before: 0, after: 0 },
    confidence: "high",
    examples: { positive: () => [], negative: () => [] },
  };
}

/** The stretches that a keyword covers, those that meet joined, by a search of one offset after the other. */
function expected(text: string, keyword: string, anyCase: boolean): number[] {
  const [wanted, searched] = anyCase ? [keyword.toLowerCase(), text.toLowerCase()] : [keyword, text];
  const ranges: number[] = [];
  for (let at = searched.indexOf(wanted); at >= 0; at = searched.indexOf(wanted, at + 1))
    if (at <= (ranges.at(-1) ?? -1)) ranges[ranges.length - 1] = at + wanted.length;
    else ranges.push(at, at + wanted.length);
  return ranges;
}

await t.test("every place of every keyword is found, and no other", (t) => {
  const alphabet = "aAbB:/_";
  for (let round = 0; round < 40; round += 1) {
    const keywords = [...new Set(Array.from({ length: 60 }, () => random.text(alphabet, 2 + random.below(7))))];
    const rules = keywords.map((keyword) => ruleFor(keyword, random.below(2) === 0));
    const engine = createEngine(rules);
    // Short texts too: the end of a text is the end of a keyword.
    const text = random.text(alphabet, random.below(2) === 0 ? random.below(60) : random.below(40_000));
    const { rules: found } = findWindows(engine, Buffer.from(text, "latin1"));
    rules.forEach(({ id, anyCase = false }, index) => {
      if ((found.get(index) ?? []).join() !== expected(text, id, anyCase).join())
        t.fail(`${id} in a text of ${text.length} bytes`);
    });
  }
  t.pass("40 rounds");
  t.end();
});

await t.test("a keyword is found wherever it begins and ends", (t) => {
  const engine = createEngine([ruleFor("k7", false), ruleFor("Key_of_Length", true)]);
  for (const [index, keyword] of ["k7", "kEY_OF_lENGTH"].entries())
    for (const before of [0, 1, 2, 3, 4, 5, ...Array.from({ length: 20 }, (_, more) => 16_384 - 15 + more)])
      for (const after of [0, 1, 2, 3, 4]) {
        const text = `${" ".repeat(before)}${keyword}${" ".repeat(after)}`;
        const { rules } = findWindows(engine, Buffer.from(text, "latin1"));
        t.same(rules.get(index), [before, before + keyword.length], `${keyword} behind ${before} before ${after}`);
      }
  t.end();
});

await t.test("a search of one text leaves nothing behind for the next", (t) => {
  const engine = createEngine([ruleFor("ab12", false)]);
  findWindows(engine, Buffer.from("  ab"));
  t.same(findWindows(engine, Buffer.from("12  ")).rules.size, 0);
  t.end();
});

await t.test("every run that may hold an encoded text is looked at", (t) => {
  const engine = createEngine([]);
  const alphabets = [
    "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/-_",
    "0123456789abcdefABCDEF",
    "aA1_",
  ];
  const separators = [" ", "=", "\n", "é"];
  let encoded = 0;
  for (let round = 0; round < 3_000; round += 1) {
    const plain = random.text("abc XYZ012\n=:", random.below(40));
    const run = [
      () => random.text(alphabets[random.below(alphabets.length)] ?? "", random.below(120)),
      () => random.text("xyz_", random.below(4)) + Buffer.from(plain).toString("base64").replace(/=+$/, ""),
      () => random.text("01f", random.below(4)) + Buffer.from(plain).toString("hex"),
      () => `H4sI${random.text(alphabets[0] ?? "", random.below(30))}`,
    ][random.below(4)]?.() as string; // one of the four
    const before = separators[random.below(4)]?.repeat(random.below(9)) ?? "";
    const bytes = Buffer.from(`${before}${run}${separators[random.below(4)] ?? ""}`, "latin1");
    const [start, end] = [before.length, before.length + run.length];
    if (!mayEncode(bytes, start, end)) continue;
    encoded += 1;
    const { runs } = findWindows(engine, bytes);
    if (!runs.some((offset) => offset >= start && offset < end)) t.fail(`${run} behind ${before.length} bytes`);
  }
  t.ok(encoded > 500, `${encoded} encoded texts`);
  t.end();
});

await t.test("long identifiers are no encoded texts", (t) => {
  const engine = createEngine([]);
  const text = "set_the_maximum_number_of_connections(createConnectionWithoutAnyArguments, maximumNumberOfArguments)\n";
  t.same(findWindows(engine, Buffer.from(text.repeat(500))).runs, []);
  t.end();
});
