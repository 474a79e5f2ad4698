import t from "tap";
import { countTap } from "../../src/suite/count-tap.ts";

/** A file's results as tap prints them: a subtest at the top level. */
function file(name: string, ok: boolean, ...lines: string[]): string {
  return [`# Subtest: ${name}`, ...lines.map((line) => `    ${line}`), `${ok ? "ok" : "not ok"} 1 - ${name}`, ""].join(
    "\n",
  );
}
const tap = (text: string): string => `TAP version 14\n${text}1..1\n`;

await t.test("assertions are counted, not files or subtests", (t) => {
  const text = file(
    "a.test.ts",
    true,
    "# Subtest: one",
    "    ok 1 - x",
    "    ok 2 - y",
    "    1..2",
    "ok 1 - one",
    "ok 2 - z",
    "1..2",
  );
  t.same(countTap(tap(text)), { passed: 3, failed: 0, skipped: 0 });
  t.end();
});

await t.test("a failure is counted once and reported with its path", (t) => {
  const reported: string[] = [];
  const text = file(
    "a.test.ts",
    false,
    "# Subtest: one",
    "    not ok 1 - x",
    "    ok 2 - y",
    "    1..2",
    "not ok 1 - one",
    "1..1",
  );
  const count = countTap(tap(text), { failure: (path) => reported.push(path.join(" > ")) });
  t.same(count, { passed: 1, failed: 1, skipped: 0 });
  t.same(reported, ["a.test.ts > one > x"]);
  t.end();
});

await t.test("a file that fails although all in it passed is one failure more", (t) => {
  const text = file("a.test.ts", false, "ok 1 - x", "1..1");
  t.same(countTap(tap(text)), { passed: 1, failed: 1, skipped: 0 });
  t.end();
});

await t.test("a subtest without an assertion counts as one", (t) => {
  const text = file("a.test.ts", true, "# Subtest: throws nothing", "    1..0", "ok 1 - throws nothing", "1..1");
  t.same(countTap(tap(text)), { passed: 1, failed: 0, skipped: 0 });
  t.end();
});

await t.test("skipped and todo tests have neither passed nor failed", (t) => {
  const text = file("a.test.ts", true, "ok 1 - x # SKIP no apt", "not ok 2 - y # TODO later", "ok 3 - z", "1..3");
  t.same(countTap(tap(text)), { passed: 1, failed: 0, skipped: 2 });
  t.end();
});

await t.test("output that is not TAP is passed on", (t) => {
  const lines: string[] = [];
  countTap(tap(file("a.test.ts", true, "ok 1 - x", "hello", "1..1")), { extra: (line) => lines.push(line.trim()) });
  t.same(lines, ["hello"]);
  t.end();
});

await t.test("each file is reported with its own count", (t) => {
  const files: [string, number, number][] = [];
  const text = file("a.test.ts", false, "ok 1 - x", "not ok 2 - y", "1..2");
  countTap(tap(text), { file: (name, { passed, failed }) => files.push([name, passed, failed]) });
  t.same(files, [["a.test.ts", 1, 1]]);
  t.end();
});
