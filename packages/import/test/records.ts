import { newId } from "@coffer/crypto";
import { type ExportRecord, type ImportedFile, type PlainRecord, readImport } from "../src/index.ts";

/** Records as they are written: each with an id. */
export function withIds(records: readonly PlainRecord[]): ExportRecord[] {
  return records.map((record) => ({ ...record, id: newId() }));
}

/** A file's bytes. */
export function bytesOf(text: string): Uint8Array {
  return new TextEncoder().encode(text);
}

/** The records of a file, and `one` of them by name. */
export async function readSample(
  bytes: Uint8Array,
): Promise<ImportedFile & { one(name: string): PlainRecord | undefined }> {
  const file = await readImport(bytes);
  return { ...file, one: (name) => file.records.find(({ payload }) => payload["name"] === name) };
}

/** Values that show faults in quoting, escaping and splitting. */
export const hardTexts = [
  'a "quoted", comma',
  "line one\nline two\n\n",
  "carriage\r\nreturn\rhere",
  "=HYPERLINK(1)",
  "'=already",
  "-dash",
  "+plus",
  "@at",
  "\ttab",
  "  spaces  ",
  "<b>&amp;</b> ]]> <![CDATA[",
  "ünï🔑𝄞",
  "a: b: c",
  "%2F%25/",
  "null",
] as const;
