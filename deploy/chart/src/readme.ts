import { readFileSync } from "node:fs";
import { resolve } from "node:path";
import { type Document, isMap, isScalar, type Pair, parseDocument } from "yaml";
import { chart } from "./paths.ts";

interface Row {
  name: string;
  preset: string;
  meaning: string;
}

/** The chart's README: a handwritten part, and a table of all values with their comments. */
export function readmeText(): string {
  const introduction = readFileSync(resolve(chart, "README.introduction.md"), "utf8");
  return `${introduction.trimEnd()}\n\n## Values\n\n${sections(valueRows())}`;
}

/** A row for each value that is not a map. Throws Error for one without a comment. */
export function valueRows(): Row[] {
  const document: Document = parseDocument(readFileSync(resolve(chart, "values.yaml"), "utf8"));
  if (!isMap(document.contents)) throw new Error("values.yaml is no map");
  const rows: Row[] = [];
  // The comment before the first key is on the map: an introduction, a blank line, and the key's own.
  const first = document.contents.commentBefore ?? document.commentBefore ?? "";
  document.contents.items.forEach((item, index) => addRows(rows, item, "", index === 0 ? first : ""));
  return rows;
}

function addRows(rows: Row[], { key, value }: Pair, before: string, inherited: string): void {
  if (!isScalar(key)) throw new Error("a key of values.yaml is no text");
  const name = `${before}${String(key.value)}`;
  const comment = lastParagraph(key.commentBefore ?? inherited);
  if (isMap(value) && value.items.length > 0 && comment === "") {
    const own = value.commentBefore ?? "";
    value.items.forEach((item, index) => addRows(rows, item, `${name}.`, index === 0 ? own : ""));
    return;
  }
  if (comment === "") throw new Error(`values.yaml: ${name} has no comment`);
  const preset = JSON.stringify((value as { toJSON(): unknown }).toJSON()); // every node of a document has it
  rows.push({ name, preset, meaning: comment });
}

function lastParagraph(comment: string): string {
  const paragraph = comment.split(/\n\s*\n/).at(-1) ?? "";
  return paragraph
    .split("\n")
    .map((line) => line.trim())
    .join(" ")
    .trim();
}

/** The services have the same values: one table has those of the first, and the additions of others. */
function sections(rows: readonly Row[]): string {
  const cells = rows.map(({ name, preset, meaning }) => [`\`${name}\``, `\`${preset}\``, meaning]);
  return table([["Value", "Default", "Meaning"], ...cells]);
}

/** A table in Prettier's format. */
function table(rows: readonly (readonly string[])[]): string {
  const escaped = rows.map((row) => row.map((cell) => cell.replaceAll("|", "\\|")));
  const widths = [0, 1, 2].map((column) => Math.max(...escaped.map((row) => (row[column] ?? "").length)));
  const line = (row: readonly string[]): string =>
    `| ${row.map((cell, column) => cell.padEnd(widths[column] ?? 0)).join(" | ")} |`;
  const [head = [], ...body] = escaped;
  return [line(head), `| ${widths.map((width) => "-".repeat(width)).join(" | ")} |`, ...body.map(line), ""].join("\n");
}
