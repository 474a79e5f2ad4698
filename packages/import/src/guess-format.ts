import { columns as chromeColumns } from "./chrome/read-csv.ts";
import { quotedColumn } from "./csv/quote-formula.ts";
import { csvHeadings } from "./csv/read-csv.ts";
import { decodeText } from "./decode-text.ts";
import type { ImportFormat } from "./formats.ts";
import { ImportError } from "./import-error.ts";
import { isKeepassDatabase, isZip } from "./magic.ts";
import { areHeadings, hasPasswordHeading } from "./table/column-fields.ts";

/** The detected format of a file, or a sentence about what it is instead. */
export interface FileDescription {
  format: ImportFormat | undefined;
  description: string;
  /** Whether it is a table, even without a known column. */
  isTable?: boolean;
}

/**
 * Detects a format by the start of a file and the names in it. Throws ImportError `encrypted` for a
 * KeePass database, `too_large` for a text above the limit.
 */
export function describeFile(bytes: Uint8Array): FileDescription {
  if (isKeepassDatabase(bytes))
    throw new ImportError("encrypted", "this is a KeePass database, which is encrypted: export it as XML (2.x)");
  if (isZip(bytes)) return describeArchive(bytes);
  let text: string;
  try {
    text = decodeText(bytes);
  } catch (error) {
    if (error instanceof ImportError && error.code === "too_large") throw error;
    return unknown("the file is neither UTF-8 text nor an archive: save a text as UTF-8");
  }
  const start = text.trimStart();
  if (start === "") return unknown("the file is empty");
  if (start.startsWith("{") || start.startsWith("[")) return describeJson(start);
  if (start.startsWith("<"))
    return start.slice(0, 4096).includes("<KeePassFile")
      ? known("keepass-xml")
      : unknown("the file is XML or HTML, but not KeePass's");
  return describeTable(csvHeadings(text));
}

/** An archive contains the names of its files uncompressed. */
function describeArchive(bytes: Uint8Array): FileDescription {
  const text =
    new TextDecoder("latin1").decode(bytes.subarray(-65_536)) +
    new TextDecoder("latin1").decode(bytes.subarray(0, 65_536));
  if (text.includes("export.data")) return known("1pux");
  if (text.includes("data.json")) return known("bitwarden-json");
  return unknown("the file is an archive, but neither 1Password's nor Bitwarden's");
}

function describeJson(text: string): FileDescription {
  const has = (name: string): boolean => new RegExp(`"${name}"\\s*:`).test(text);
  if (/^\{\s*"format"\s*:\s*"coffer"/.test(text)) return known("coffer-json");
  if (has("accounts") && has("vaults")) return known("1pux");
  if (has("encrypted") || (has("items") && has("folderId"))) return known("bitwarden-json");
  return unknown("the file is JSON, but none that is known");
}

function describeTable(headings: readonly string[]): FileDescription {
  const lower = headings.map((heading) => heading.toLowerCase());
  const has = (...names: string[]): boolean => names.every((name) => lower.includes(name));
  if (has("login_username", "login_password")) return known("bitwarden-csv");
  if (has("url", "username", "password", "extra", "grouping")) return known("lastpass-csv");
  const ofChrome = [...chromeColumns, "", quotedColumn];
  if (has("name", "url", "username", "password") && lower.every((heading) => ofChrome.includes(heading)))
    return known("chrome-csv");
  if (headings.length < 2) return unknown("the file is text, but no table");
  if (hasPasswordHeading(headings)) return known("csv");
  return { ...unknown(describeHeadings(headings)), isTable: true };
}

/**
 * Without headings the first row is an item with its password, so it is shown only if a heading is
 * known.
 */
function describeHeadings(headings: readonly string[]): string {
  const way = 'say what they hold with --map, for instance --map "Salasana=password"';
  if (!areHeadings(headings))
    return `the file is a table, but none of its ${headings.length} headings is known (they may be an item, so they are not shown): ${way}`;
  const shown = headings.map((heading) => `"${heading}"`).join(", ");
  return `the file is a table in which no column is known as the password, of ${shown}: ${way}`;
}

function known(format: ImportFormat): FileDescription {
  return { format, description: format };
}

function unknown(description: string): FileDescription {
  return { format: undefined, description };
}
