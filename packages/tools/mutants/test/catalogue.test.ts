import { resolve } from "node:path";
import t from "tap";
import { catalogue } from "../src/catalogue.ts";
import { checkTypes } from "../src/check-types.ts";
import { misfits } from "../src/misfits.ts";
import type { Mutant } from "../src/mutant.ts";
import { readOptions } from "../src/options.ts";
import { testDirectory } from "@coffer/testkit";
import { smallCheckout } from "./small-checkout.ts";

const checkout = resolve(import.meta.dirname, "../../../..");
const file = "packages/limit/src/limit.ts";
const tests = ["packages/user/test/limit.test.ts"] as const;

await t.test("every mutant applies to the checkout as it is", (t) => {
  t.same(misfits(checkout, catalogue), []);
  t.ok(catalogue.length >= 30);
  t.same(
    catalogue.filter(({ name }) => !/^[a-z0-9]+(-[a-z0-9]+)+$/.test(name)).map(({ name }) => name),
    [],
  );
  t.equal(new Set(catalogue.map(({ name }) => name)).size, catalogue.length, "each has a name of its own");
  const changes = catalogue.map(({ file, find, replace }) => JSON.stringify([file, find, replace]));
  t.equal(new Set(changes).size, catalogue.length, "no breakage is tried under two names");
  t.end();
});

await t.test("a mutant that does not apply is reported with the reason", (t) => {
  const mutant = (change: Partial<Mutant>): Mutant => ({
    name: "x",
    file,
    find: "count <= 3",
    replace: "true",
    tests,
    ...change,
  });
  const small = smallCheckout(t);
  t.same(misfits(small, [mutant({})]), []);
  t.match(misfits(small, [mutant({ find: "count > 3" })]), [/^x: its text occurs 0 times/]);
  t.match(misfits(small, [mutant({ find: "three" })]), [/^x: its text occurs 2 times/]);
  t.match(misfits(small, [mutant({ replace: "count <= 3" })]), ["x: it changes nothing"]);
  t.match(misfits(small, [mutant({ tests: ["packages/user/test/none.test.ts"] })]), ["x: there is no packages/user"]);
  t.end();
});

await t.test("a mutant that does not compile is reported, also if others change the same text", async (t) => {
  const mutant = (name: string, replace: string): Mutant => ({ name, file, find: "count <= 3", replace, tests });
  const small = smallCheckout(t);
  const { signal } = new AbortController();
  const check = (mutants: readonly Mutant[]) => checkTypes(small, testDirectory(t), mutants, signal);
  t.same(await check([mutant("a", "count <= 4"), mutant("b", "count <= 5")]), []);
  t.match(await check([mutant("a", "count <= 4"), mutant("b", '"yes"')]), [
    /limit\.ts.*not assignable to type 'boolean'/,
  ]);
});

await t.test("words of the command line choose by name", (t) => {
  const named = (...args: string[]) => readOptions(args, catalogue)?.mutants.map(({ name }) => name) ?? null;
  t.equal(named()?.length, catalogue.length);
  t.same(named("last-owner-leaves"), ["last-owner-leaves"]);
  t.same(named("last-owner"), ["last-owner-leaves", "last-owner-demoted"]);
  t.equal(named("--help"), null);
  for (const args of [["no-such-mutant"], ["--jobs", "0"], ["--what"]]) {
    t.throws(() => readOptions(args, catalogue), { name: "UsageError" });
  }
  t.end();
});
