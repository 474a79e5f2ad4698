import { newId } from "@coffer/crypto";
import type { ExportRecord, PlainRecord } from "../src/index.ts";

/** Records as they are written: each with an id. */
export function withIds(records: readonly PlainRecord[]): ExportRecord[] {
  return records.map((record) => ({ ...record, id: newId() }));
}

/** A file's bytes. */
export function bytesOf(text: string): Uint8Array {
  return new TextEncoder().encode(text);
}

/** Values that break quoting, escaping and splitting where something is wrong with it. */
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
