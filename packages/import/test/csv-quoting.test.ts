import assert from "node:assert/strict";
import { hostileText } from "@coffer/testkit/hostile-text";
import fc from "fast-check";
import t from "tap";
import { readCsv } from "../src/csv/read-csv.ts";
import { isFormula } from "../src/csv/quote-formula.ts";
import { writeCsv } from "../src/csv/write-csv.ts";
import { readImport, writeExport } from "../src/index.ts";
import { bytesOf, hardTexts, withIds } from "./records.ts";

await t.test("a written table is read back unchanged", (t) => {
  const columns = ["one", "two", "three"];
  const row = fc.record({ one: hostileText, two: hostileText, three: hostileText });
  const rows = fc.array(row, { minLength: 1, maxLength: 5 });
  const property = fc.property(rows, fc.subarray(columns), (written, exact) => {
    const table = readCsv(writeCsv(columns, written, { exact }).text, columns);
    const read = table.rows.map(({ cell }) => ({ one: cell("one"), two: cell("two"), three: cell("three") }));
    // A row of empty cells holds nothing.
    const held = written.filter(({ one, two, three }) => one + two + three !== "");
    assert.deepEqual(
      read,
      held.map((each) => ({ ...each })),
    );
    assert.deepEqual(table.leftOut, []);
  });
  fc.assert(property, { numRuns: 300 });
  t.pass();
  t.end();
});

/** The cells of a table as a spreadsheet shows them. */
const cellsOf = (text: string): string[] => {
  const { columns, rows } = readCsv(text.replaceAll("coffer_quoted", "other"), []);
  return rows.flatMap((row) => columns.map((column) => row.cell(column)));
};

for (const format of ["chrome-csv", "bitwarden-csv", "lastpass-csv"] as const)
  await t.test(`${format}: no formula for a spreadsheet, and every password as it was`, async (t) => {
    const secrets = hardTexts.filter((text) => !/[\r\n]/.test(text));
    const records = withIds(
      secrets.map((text) => ({
        type: "login",
        payload: { name: text, username: text, password: text, uri: `=${text}`, notes: text, folder: "=f" },
      })),
    );
    const usual = await writeExport(format, records);
    const sensitive = readCsv(usual.text, []).rows.map((row) =>
      row.cell(format === "bitwarden-csv" ? "login_password" : "password"),
    );
    t.strictSame(sensitive, secrets, "another program reads the password itself");
    const live = cellsOf(usual.text).filter(isFormula);
    t.ok(live.length > 0 && live.every((cell) => secrets.includes(cell as (typeof secrets)[number])));
    t.match(usual.notes, [new RegExp(`${live.length} user names, passwords`)]);
    const safe = await writeExport(format, records, { forSpreadsheets: true });
    t.strictSame(cellsOf(safe.text).filter(isFormula), [], "not one formula");
    t.strictSame(safe.notes, []);
    for (const { text } of [usual, safe]) {
      const { records: read } = await readImport(bytesOf(text));
      t.strictSame(
        read.map(({ payload }) => payload["password"]),
        secrets,
      );
      t.strictSame(
        read.map(({ payload }) => payload["name"]),
        secrets,
      );
    }
  });

await t.test("without a formula the headings are those of the other program, and nothing else", async (t) => {
  const [record] = withIds([{ type: "login", payload: { name: "a", password: "p" } }]);
  if (record === undefined) throw new Error("a record was made");
  t.equal(
    (await writeExport("chrome-csv", [record])).text.split("\r\n")[0],
    '"name","url","username","password","note"',
  );
});
