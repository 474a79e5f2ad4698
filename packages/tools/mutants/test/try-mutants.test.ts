import { resolve } from "node:path";
import { testDirectory, type TestScope } from "@coffer/testkit";
import t from "tap";
import { catalogue } from "../src/catalogue.ts";
import type { Mutant } from "../src/mutant.ts";
import { testEnvironment } from "../src/test-environment.ts";
import { type Tally, tryMutants } from "../src/try-mutants.ts";
import { smallCheckout, textsOf } from "./small-checkout.ts";

const file = "packages/limit/src/limit.ts";
const limit = "packages/user/test/limit.test.ts";
const failing = "packages/user/test/failing.test.ts";

const mutants = {
  caught: { name: "one-more", file, find: "count <= 3", replace: "count <= 4", tests: [limit] },
  survived: { name: "another-word", file, find: '"three"', replace: '"four"', tests: [limit] },
  crashing: { name: "no-module", file, find: "export function", replace: "throw 1; export function", tests: [limit] },
  misfit: { name: "no-such-text", file, find: "count < 3", replace: "count < 4", tests: [limit] },
  unfit: { name: "no-such-test", file, find: "count <= 3", replace: "count <= 4", tests: [failing] },
} as const satisfies Record<string, Mutant>;

async function run(
  t: TestScope,
  tried: readonly Mutant[],
  checkout: string,
): Promise<{ tally: Tally; lines: string[] }> {
  const lines: string[] = [];
  const tally = await tryMutants({
    checkout,
    scratch: testDirectory(t),
    mutants: tried,
    environment: testEnvironment(testDirectory(t), ""),
    jobs: tried.length > 1 ? 2 : 1,
    out: (line) => lines.push(line),
    signal: new AbortController().signal,
  });
  return { tally, lines: lines.sort() };
}

await t.test(
  "a breakage that a test notices is caught, another survives, and the checkout stays as it is",
  async (t) => {
    const checkout = smallCheckout(t);
    const before = textsOf(checkout);
    const { tally, lines } = await run(t, [mutants.caught, mutants.survived], checkout);
    t.same(tally, { caught: 1, survived: 1, untried: 0 });
    t.match(lines, [
      /^SURVIVED {2}another-word \([\d.]+ s\): packages\/user\/test\/limit.test.ts passes$/,
      /^caught {4}one-more \([\d.]+ s\): packages\/user\/test\/limit.test.ts › three are within/,
    ]);
    t.same(textsOf(checkout), before);
  },
);

await t.test("a mutant that cannot be loaded, or does not apply, is not caught", async (t) => {
  const { tally, lines } = await run(t, [mutants.crashing, mutants.misfit], smallCheckout(t));
  t.same(tally, { caught: 0, survived: 2, untried: 0 });
  t.match(lines, [/no-module .* breaks off without a failed assertion/, /no-such-text .* it does not apply/]);
});

await t.test("a test that fails without a mutation catches nothing", async (t) => {
  const { tally, lines } = await run(t, [mutants.unfit], smallCheckout(t));
  t.same(tally, { caught: 0, survived: 0, untried: 1 });
  t.match(lines, [/^UNFIT +packages\/user\/test\/failing.test.ts does not pass on what is not broken/]);
});

await t.test("a real mutant is caught", async (t) => {
  const real = catalogue.filter(({ name }) => name === "token-may-live-a-second-longer");
  const { tally, lines } = await run(t, real, resolve(import.meta.dirname, "../../../.."));
  t.same(tally, { caught: 1, survived: 0, untried: 0 }, lines.join("\n"));
});
