import { readFileSync } from "node:fs";
import { resolve } from "node:path";
import t from "tap";
import { checkout } from "../../src/checkout.ts";

// docs/security.md is for people who evaluate Coffer: one page, short cells, a diagram of the keys.

const page = readFileSync(resolve(checkout, "docs/security.md"), "utf8");
const fences = page.split("```").filter((_, index) => index % 2 === 1);
const prose = page.split("```").filter((_, index) => index % 2 === 0);

/** Each cell of the tables in a text, without its markup. */
function cellsOf(text: string): string[] {
  return text
    .split("\n")
    .filter((line) => line.startsWith("|"))
    .flatMap((line) => line.split("|").slice(1, -1))
    .map((cell) => cell.trim());
}

const wordsOf = (text: string): string[] => text.split(/\s+/).filter((word) => /\w/.test(word));

void t.test("no table cell is longer than 25 words", (t) => {
  const cells = prose.flatMap(cellsOf);
  t.ok(cells.length > 30, "the page has tables");
  t.same(
    cells.filter((cell) => wordsOf(cell).length > 25),
    [],
  );
  t.end();
});

void t.test("a diagram shows the keys, and the histories that vouch for them", (t) => {
  const diagram = fences.join("\n");
  const named = ["password", "recovery key", "user key", "private key", "folder keys", "history of the organization"];
  for (const name of [...named, "history of each folder", "DEK", "one-time token"]) t.match(diagram, name);
  for (const line of diagram.split("\n")) t.ok(line.length <= 120, line);
  t.end();
});

void t.test("the page is one page", (t) => {
  t.ok(wordsOf(prose.join(" ")).length < 1_800, `${wordsOf(prose.join(" ")).length} words`);
  t.end();
});
