import { readdir, readFile } from "node:fs/promises";
import { relative } from "node:path";
import { z } from "zod";
import { type CaseFile, caseFile, type Given, givenFile } from "./case-file.ts";

/** A case and its name: the path of its file without the extension. */
export interface NamedCase extends CaseFile {
  name: string;
}

export interface CaseBook {
  /** The objects of every case. */
  shop: { ours: Given; elsewhere: Given; audited: Given };
  cases: NamedCase[];
}

/** A malformed file in the folder. */
export class CaseFileError extends Error {
  constructor(file: string, problem: string) {
    super(`${file}: ${problem}`);
    this.name = "CaseFileError";
  }
}

const shopFile = z.strictObject({ ours: givenFile, elsewhere: givenFile, audited: givenFile });

/** Reads a folder of cases, sorted by name. Throws CaseFileError. */
export async function readCases(directory: string): Promise<CaseBook> {
  const files = (await readdir(directory, { recursive: true, withFileTypes: true }))
    .filter((entry) => entry.isFile() && entry.name.endsWith(".json"))
    .map((entry) => relative(directory, `${entry.parentPath}/${entry.name}`))
    .sort();
  const cases: NamedCase[] = [];
  for (const file of files) {
    if (file === "given.json") continue;
    cases.push({ name: file.slice(0, -".json".length), ...(await parse(directory, file, caseFile)) });
  }
  return { shop: await parse(directory, "given.json", shopFile), cases };
}

async function parse<Value>(directory: string, file: string, schema: z.ZodType<Value>): Promise<Value> {
  let value: unknown;
  try {
    value = JSON.parse(await readFile(`${directory}/${file}`, "utf8"));
  } catch (error) {
    throw new CaseFileError(file, (error as Error).message);
  }
  const parsed = schema.safeParse(value);
  if (!parsed.success) throw new CaseFileError(file, z.prettifyError(parsed.error));
  return parsed.data;
}

/** The cases with one of these names or below it; all without names. Throws CaseFileError for none. */
export function chooseCases(cases: readonly NamedCase[], names: readonly string[]): NamedCase[] {
  if (names.length === 0) return [...cases];
  const chosen = (name: string, wanted: string): boolean =>
    name === wanted || name.startsWith(`${wanted.replace(/\/$/, "")}/`);
  for (const wanted of names)
    if (!cases.some(({ name }) => chosen(name, wanted))) throw new CaseFileError(wanted, "there is no such case");
  return cases.filter(({ name }) => names.some((wanted) => chosen(name, wanted)));
}
