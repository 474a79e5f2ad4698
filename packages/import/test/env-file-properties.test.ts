import assert from "node:assert/strict";
import { parseEnv } from "node:util";
import { brokenText } from "@coffer/testkit/hostile-text";
import fc from "fast-check";
import t from "tap";
import { readEnvFile } from "../src/env-file.ts";

const name = fc.stringMatching(/^[A-Za-z_][A-Za-z0-9_.-]{0,8}$/);
const breaks = fc.constantFrom("\n", "\r\n");
/** A value and its forms in a file. */
const written = fc.oneof(
  ...["'", '"', "`"].map((quote) =>
    brokenText
      .map((text) => text.replaceAll(quote, "").replaceAll("\\n", "").replaceAll("\r", ""))
      .map((value) => ({ value, text: `${quote}${value}${quote}` })),
  ),
  fc.stringMatching(/^[^\s"'`#][^\n\r#]{0,9}$/).map((text) => ({ value: text.trim(), text })),
  fc.constant({ value: "", text: "" }),
);
const assignment = fc
  .record({
    name,
    written,
    before: fc.constantFrom("", "  ", "export ", "export\t"),
    around: fc.constantFrom("", " ", "\t"),
  })
  .chain(({ name: key, written: { value, text }, before, around }) =>
    fc
      .constantFrom("", " ", " # a comment", '\t# it\'s "odd"')
      .map((after) => ({ key, value, text: `${before}${key}${around}=${around}${text}${after}` })),
  );
const line = fc.oneof({ weight: 3, arbitrary: assignment }, fc.constantFrom("", "  ", "# A=1", " \t# it's = A\u2028"));

await t.test("every form of an assignment is read, however lines end", (t) => {
  const property = fc.property(fc.array(line, { maxLength: 6 }), breaks, (lines, lineBreak) => {
    const file = lines.map((each) => (typeof each === "string" ? each : each.text)).join(lineBreak);
    const expected = new Map(
      lines.flatMap((each) => (typeof each === "string" ? [] : [[each.key, each.value] as const])),
    );
    assert.deepEqual(readEnvFile(file), { variables: expected });
  });
  fc.assert(property, { numRuns: 1000 });
  t.pass();
  t.end();
});

await t.test("a line that sets nothing is named by its number", (t) => {
  const one = fc.property(
    fc.array(assignment, { maxLength: 4 }),
    fc.constantFrom("=x", "A", "export", "'A'=1", "A: 1"),
    (lines, wrong) => {
      const before = lines.map(({ text }) => `${text}\n`).join("");
      assert.deepEqual(readEnvFile(before + wrong), { wrongLine: before.split("\n").length });
    },
  );
  fc.assert(one, { numRuns: 200 });
  t.pass();
  t.end();
});

await t.test("Node reads the same values, also of quotes that stand alone", (t) => {
  const signs = fc.constantFrom("a", "b c", "'", '"', "`", "#", " #", "=", "\\n", "$A", "é", ".", "\\");
  const value = fc.array(signs, { minLength: 1, maxLength: 6 }).map((parts) => parts.join(""));
  const property = fc.property(
    fc.array(
      value.filter((text) => !text.startsWith(" ")),
      { maxLength: 4 },
    ),
    (values) => {
      const file = values.map((text, index) => `V${index}=${text}\n`).join("");
      const read = readEnvFile(file);
      if ("variables" in read) assert.deepEqual({ ...parseEnv(file) }, Object.fromEntries(read.variables));
    },
  );
  fc.assert(property, { numRuns: 1000 });
  t.pass();
  t.end();
});

await t.test("a long file takes time in proportion, also when a quote is closed at its end", (t) => {
  for (const part of ["A=1\n", "A='\n", 'A="x\n', "#\n", " ", "A", "="]) {
    const start = process.cpuUsage();
    readEnvFile(`A="${part.repeat(200_000)}"\n${part.repeat(200_000)}`);
    assert.ok(process.cpuUsage(start).user < 3_000_000, JSON.stringify(part));
  }
  t.pass();
  t.end();
});
