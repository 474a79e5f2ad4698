import { randomInt } from "node:crypto";
import t from "tap";
import { readCsv } from "../src/csv/read-csv.ts";
import { isFormula } from "../src/csv/quote-formula.ts";
import { writeCsv } from "../src/csv/write-csv.ts";
import { readImport, writeExport } from "../src/index.ts";
import { bytesOf, hardTexts, withIds } from "./records.ts";

const pieces = [
  '"',
  '""',
  ",",
  "\n",
  "\r\n",
  "\r",
  "'",
  "=",
  "+",
  "-",
  "@",
  "\t",
  " ",
  ";",
  "a",
  "é",
  "🔑",
  "\uFEFF",
  "\\",
];
const anyText = (): string => Array.from({ length: randomInt(8) }, () => pieces[randomInt(pieces.length)]).join("");

await t.test("a written table is read back unchanged", (t) => {
  const columns = ["one", "two", "three"];
  for (let round = 0; round < 300; round++) {
    const exact = columns.filter(() => randomInt(2) === 0);
    const rows = Array.from({ length: 1 + randomInt(5) }, () =>
      Object.fromEntries(columns.map((column) => [column, anyText()])),
    );
    const { text } = writeCsv(columns, rows, { exact });
    const table = readCsv(text, columns);
    const read = table.rows.map((row) => Object.fromEntries(columns.map((column) => [column, row.cell(column)])));
    // A row of empty cells holds nothing.
    const held = rows.filter((row) => columns.some((column) => row[column] !== ""));
    if (JSON.stringify(read) !== JSON.stringify(held)) t.strictSame(read, held, JSON.stringify(text));
    t.strictSame(table.leftOut, []);
  }
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
