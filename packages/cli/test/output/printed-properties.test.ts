import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { parseEnv } from "node:util";
import { readEnvFile } from "@coffer/import/env-file";
import { brokenText, hostileText } from "@coffer/testkit/hostile-text";
import { parse } from "csv-parse/sync";
import fc from "fast-check";
import t from "tap";
import { headingOf, lineOf, seqOf } from "../../src/audit/audit-lines.ts";
import { jsonLine, visible, visibleLines } from "../../src/output/output.ts";
import type { Failure } from "../../src/failure.ts";
import { quoteValue } from "../../src/output/quote-value.ts";
import { folderVariables } from "../../src/run/folder-variables.ts";
import { csvReport } from "../../src/scan/report/csv.ts";
import { githubReport } from "../../src/scan/report/github.ts";

/** What moves the cursor, breaks a line, or reorders, hides or halves text. */
const obeyed = /[\p{Cc}\p{Cf}\p{Zl}\p{Zp}\p{Cs}]/u;
/** A variable holds no NUL. */
const value = hostileText.map((text) => text.replaceAll("\0", ""));

await t.test("a shell reads each printed value as it is", (t) => {
  const values = fc.array(value, { minLength: 20, maxLength: 40 });
  const property = fc.property(values, (texts) => {
    const script = texts.map((text, index) => `V${index}=${quoteValue(text)}\nprintf '%s\\0' "$V${index}"\n`).join("");
    const read = execFileSync("sh", ["-s"], { input: script }).toString();
    assert.deepEqual(read.split("\0").slice(0, -1), texts);
  });
  fc.assert(property, { numRuns: 10 });
  t.pass();
  t.end();
});

await t.test("readers of dotenv files read each printed value as it is, but for what docs/cli.md names", (t) => {
  const named = (text: string): boolean => text.includes("\r") || (text.includes("'") && /["$`\\!]/.test(text));
  const variables = fc.array(
    value.filter((text) => !named(text)),
    { maxLength: 5 },
  );
  const property = fc.property(variables, (texts) => {
    const expected = Object.fromEntries(texts.map((text, index) => [`V${index}`, text]));
    const file = texts.map((text, index) => `V${index}=${quoteValue(text)}\n`).join("");
    const read = readEnvFile(file);
    assert.deepEqual("variables" in read && Object.fromEntries(read.variables), expected, JSON.stringify(file));
    assert.deepEqual({ ...parseEnv(file) }, expected, JSON.stringify(file));
  });
  fc.assert(property, { numRuns: 300 });
  t.pass();
  t.end();
});

await t.test("whatever the titles and fields of a folder are, each variable has a name of a shell", (t) => {
  const secrets = fc.array(fc.record({ title: hostileText, fields: fc.dictionary(hostileText, fc.constant("x")) }));
  const property = fc.property(secrets, fc.constantFrom("", "app_"), (all, prefix) => {
    let names: string[] = [];
    try {
      names = [...folderVariables(all as never, { prefix }).keys()]; // only titles and fields are read
    } catch (error) {
      assert.equal((error as Failure).exitCode, 2);
    }
    for (const name of names) assert.match(name, /^[A-Za-z_][A-Za-z0-9_]*$/);
  });
  fc.assert(property, { numRuns: 100 });
  t.pass();
  t.end();
});

await t.test("nothing that a terminal obeys is printed of other people's text, and JSON says the same", (t) => {
  const property = fc.property(brokenText, (text) => {
    assert.doesNotMatch(visible(text), obeyed);
    for (const line of visibleLines(text).split("\n")) assert.doesNotMatch(line, obeyed);
    if (/^[\p{L}\p{N}\p{P}\p{S} ]*$/u.test(text) && !/[\u115f\u1160\u2800\u3164\uffa0]/.test(text))
      assert.equal(visible(text), text, "what can be seen stays");
    const thing = { [`${text}.`]: [text] };
    assert.doesNotMatch(jsonLine(thing), obeyed);
    assert.deepEqual(JSON.parse(jsonLine(thing)), thing);
  });
  fc.assert(property, { numRuns: 1000 });
  t.pass();
  t.end();
});

await t.test("an exported audit record is one line, and its cells read back", (t) => {
  const record = fc.record(
    {
      seq: fc.integer({ min: 1 }),
      action: hostileText,
      target: fc.record({ type: hostileText, id: hostileText }, { noNullPrototype: true }),
      source: fc.record({ user_agent: fc.option(brokenText) }, { noNullPrototype: true }),
      changes: fc.dictionary(hostileText, hostileText, { maxKeys: 3, noNullPrototype: true }),
    },
    { noNullPrototype: true },
  );
  const property = fc.property(record, (given) => {
    const line = lineOf("csv", given);
    assert.doesNotMatch(line + lineOf("jsonl", given), obeyed);
    assert.deepEqual(JSON.parse(lineOf("jsonl", given)), given);
    const [cells = {}, ...others] = parse<Record<string, string>>(`${headingOf("csv") ?? ""}\n${line}\n`, {
      columns: true,
    });
    assert.deepEqual(others, []);
    assert.equal(cells["seq"], String(given.seq));
    const texts = {
      action: given.action,
      target_id: given.target.id,
      source_user_agent: given.source.user_agent ?? "",
    };
    for (const [column, text] of Object.entries(texts)) {
      const cell = cells[column] ?? "";
      assert.doesNotMatch(cell, /^\s*[=+\-@]/);
      const shown = visible(text);
      assert.equal(cell, /^\s*[=+\-@]/.test(shown) ? `'${shown}` : shown);
    }
    for (const format of ["csv", "jsonl"] as const) assert.equal(seqOf(format, lineOf(format, given)), given.seq);
  });
  fc.assert(property, { numRuns: 200 });
  t.pass();
  t.end();
});

await t.test("a report of the scanner has one entry for each place, with its path, whatever the path is", (t) => {
  const finding = {
    kind: "k",
    rule_id: "r",
    redacted: "x***",
    confidence: "high",
    checksum: "none",
    length: 9,
  } as const;
  const at = { start_line: 1, start_column: 2, end_line: 1, end_column: 3 };
  const property = fc.property(fc.array(hostileText, { minLength: 1, maxLength: 4 }), (paths) => {
    const locations = paths.map((path) => ({ ...at, path }));
    const counts = { inputs: 1, bytes: 1, binary: 0, inBaseline: 0, ignored: 0, version: "1" };
    const report = { ...counts, findings: [{ ...finding, fingerprint: "f", locations }], problems: [] };
    const rows = parse<Record<string, string>>(csvReport(report), { columns: true, record_delimiter: "\r\n" });
    const formula = /^[=+\-@\t\r\n\uff1d\uff0b\uff0d\uff20]/;
    assert.deepEqual(
      rows.map((row) => row["path"]),
      paths.map((path) => (formula.test(path) ? `'${path}` : path)),
    );
    const commands = githubReport(report).split("\n").slice(0, -1);
    const files = commands.map((line) => /^::error file=([^,]*),/.exec(line)?.[1] ?? "");
    assert.deepEqual(files.map(asTheRunnerReads), paths);
  });
  fc.assert(property, { numRuns: 200 });
  t.pass();
  t.end();
});

/** What GitHub's runner makes of a property. */
function asTheRunnerReads(text: string): string {
  return text
    .replaceAll("%0D", "\r")
    .replaceAll("%0A", "\n")
    .replaceAll("%3A", ":")
    .replaceAll("%2C", ",")
    .replaceAll("%25", "%");
}
