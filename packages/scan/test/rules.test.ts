import t from "tap";
import { checkRule } from "../src/check-rule.ts";
import { seededRandom } from "../src/examples/random.ts";
import { builtInRules } from "../src/index.ts";

const ofTheSpecification = [
  "cloud provider access key",
  "cloud provider secret key",
  "code-host personal token",
  "code-host fine-grained token",
  "chat-platform bot token",
  "chat-platform incoming-webhook URL",
  "payment-processor live secret key",
  "payment-processor live restricted key",
  "RSA private key block",
];

await t.test("every rule finds its positive examples and none of its negative ones", (t) => {
  for (const rule of builtInRules) t.same(checkRule(rule, 20, 7), [], rule.id);
  t.end();
});

await t.test("the nine kinds of the specification have rules, and at least sixty further kinds", (t) => {
  const kinds = new Set(builtInRules.map(({ kind }) => kind));
  for (const kind of ofTheSpecification) t.ok(kinds.has(kind), kind);
  t.ok(kinds.size >= ofTheSpecification.length + 60, `${kinds.size} kinds`);
  t.end();
});

await t.test("ids are unique and lasting, and every rule names its vendor's page", (t) => {
  t.equal(new Set(builtInRules.map(({ id }) => id)).size, builtInRules.length);
  for (const { id, reference, description } of builtInRules) {
    t.match(id, /^[a-z0-9]+(?:-[a-z0-9]+)*$/, id);
    t.match(reference, /^https:\/\//, id);
    t.not(description, "", id);
  }
  t.end();
});

await t.test("every quantifier of a pattern is bounded", (t) => {
  for (const { id, pattern, find } of builtInRules) {
    t.ok(pattern !== undefined || find !== undefined, id);
    const bare = (pattern?.source ?? "").replace(/\\./g, "_").replace(/\[[^\]]*\]/g, "_");
    t.notMatch(bare, /[*+](?!\))|\{\d+,\}/, id);
  }
  t.end();
});

await t.test("no keyword is so short that ordinary text is full of it", (t) => {
  for (const { id, keywords } of builtInRules)
    for (const keyword of keywords) t.ok(keyword.length >= 3 || keyword === "Q~", `${id}: ${keyword}`);
  t.end();
});

await t.test("a rule that searches without backtracking finds what its pattern finds", (t) => {
  const random = seededRandom(3);
  const both = builtInRules.filter(({ pattern, find }) => pattern !== undefined && find !== undefined);
  t.ok(both.length >= 5, `${both.length} rules`);
  for (const { id, pattern = /-/g, find, keywords, examples } of both) {
    // In a longer stretch than it takes at most, the pattern may find a token that ends inside a word.
    const most = Number(/<secret>.*?\{\d+,(\d+)\}/.exec(pattern.source)?.[1]);
    const tooLong = new RegExp(`[A-Za-z0-9%+/=_-]{${most}}`);
    const [prefix = ""] = keywords;
    const half = (): string => `${prefix}${random.text("aZ9", 60)}`;
    const parts = (): string[] => [
      ...examples.positive(random),
      ...[prefix, `${prefix}${random.text("aZ9_-", 30)}`, `${half()}-${half()}.ab.abcdefghi`],
      ...[" ", "-", ".", "_", "x", "\n", "\\n"],
    ];
    for (let round = 0; round < 100; round += 1) {
      const text = Array.from({ length: 4 }, () => {
        const choice = parts();
        return choice[random.below(choice.length)] ?? "";
      }).join("");
      if (tooLong.test(text)) continue;
      const expected = [...text.matchAll(pattern)].map(({ index, 0: found }) => [index, index + found.length]);
      t.same(
        find?.(text).map(({ start, end }) => [start, end]),
        expected,
        `${id}: ${JSON.stringify(text)}`,
      );
    }
  }
  t.end();
});
