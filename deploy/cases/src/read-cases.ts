import { readdir, readFile } from "node:fs/promises";
import { relative } from "node:path";
import { z } from "zod";
import type { CaseFile, Given } from "./case-file.ts";
import { caseFile, givenFile } from "./case-file.ts";

/** A case and its name: the path of its file without the ending. */
export interface NamedCase extends CaseFile {
  name: string;
}

export interface CaseBook {
  /** What every case finds. */
  shop: { ours: Given; elsewhere: Given };
  cases: NamedCase[];
}

/** A file of the folder is not what it must be. */
export class CaseFileError extends Error {
  constructor(file: string, problem: string) {
    super(`${file}: ${problem}`);
    this.name = "CaseFileError";
  }
}

const shopFile = z.strictObject({ ours: givenFile, elsewhere: givenFile });

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

/** The cases whose name is one of these or lies below one of them; all without any. Throws CaseFileError for none. */
export function chooseCases(cases: readonly NamedCase[], names: readonly string[]): NamedCase[] {
  if (names.length === 0) return [...cases];
  const chosen = (name: string, wanted: string): boolean =>
    name === wanted || name.startsWith(`${wanted.replace(/\/$/, "")}/`);
  for (const wanted of names)
    if (!cases.some(({ name }) => chosen(name, wanted))) throw new CaseFileError(wanted, "there is no such case");
  return cases.filter(({ name }) => names.some((wanted) => chosen(name, wanted)));
}
