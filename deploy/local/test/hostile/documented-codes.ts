import { readFileSync } from "node:fs";
import { join } from "node:path";
import { checkout } from "../../src/checkout.ts";

const page = (path: string): string => readFileSync(join(checkout, path), "utf8");

/** The first cells of the tables of a page that hold one code. */
const inTables = (text: string): string[] => [...text.matchAll(/^\| `([a-z_]+)` +\|/gm)].map(([, code = ""]) => code);

/** The codes of the rows that begin with a status. */
const besideStatuses = (text: string): string[] =>
  (text.match(/^\| \d{3} .*$/gm) ?? []).flatMap((row) =>
    [...row.matchAll(/`([a-z_]+)`/g)].map(([, code = ""]) => code),
  );

/** The error codes that the documents name: docs/histories.md, docs/api.md, and the README of the SDK. */
export const documentedCodes: ReadonlySet<string> = new Set([
  ...inTables(page("docs/histories.md")),
  ...inTables(page("packages/sdk/README.md")),
  ...besideStatuses(page("docs/api.md")),
]);
