import { encodeRecord, type RecordPayload } from "@coffer/crypto";
import { type ImportFormat, importFormats } from "./formats.ts";
import { describeFile } from "./guess-format.ts";
import { ImportError } from "./import-error.ts";
import type { Include } from "./include.ts";
import type { Reading } from "./report.ts";
import { stackEnded } from "./stack-ended.ts";
import { asNothing, isColumnField } from "./table/column-fields.ts";
import type { ColumnMap } from "./table/column-map.ts";

export interface ReadOptions extends Partial<Include> {
  /** By default detected from the content. */
  format?: ImportFormat | undefined;
  /** The meaning of columns by heading: a field, `custom`, `custom.<name>` or `none`. */
  map?: ColumnMap | undefined;
}

const tables: readonly ImportFormat[] = ["bitwarden-csv", "chrome-csv", "lastpass-csv", "csv"];

export interface ImportedFile extends Reading {
  format: ImportFormat;
}

/**
 * Reads a file of another password manager: every item becomes a record, or is reported. Sends and
 * stores nothing. Throws ImportError for a file that cannot be read completely.
 */
export async function readImport(bytes: Uint8Array, options: ReadOptions = {}): Promise<ImportedFile> {
  const format = formatOf(bytes, options);
  const include = { archived: options.archived ?? false, deleted: options.deleted ?? false };
  const reading = await readAs(format, bytes, include, options.map ?? {}).catch((error: unknown) => {
    throw stackEnded(error) ? new ImportError("broken", "the file is nested too deeply") : error;
  });
  for (const [heading, field] of Object.entries(options.map ?? {}))
    if (field === asNothing) reading.notes.push(`the column "${heading}" is not imported, as --map says`);
  const records = reading.records.filter(({ payload }) => {
    const fits = fitsOneRecord(payload);
    if (!fits)
      reading.leftOut.push({ kind: "item", item: payload["name"] ?? null, reason: "it is larger than 256 KiB" });
    return fits;
  });
  return { ...reading, records, format };
}

/** The given or detected format. Throws ImportError for a mismatch. */
function formatOf(bytes: Uint8Array, { format: named, map = {} }: ReadOptions): ImportFormat {
  const odd = Object.values(map).find((field) => !isColumnField(field));
  if (odd !== undefined) throw new ImportError("wrong_format", `a column cannot be mapped to "${odd}": no such field`);
  const file = describeFile(bytes);
  const mapped = Object.keys(map).length > 0;
  const format = named ?? file.format ?? (mapped && file.isTable ? "csv" : undefined);
  if (format === undefined)
    throw new ImportError("unknown_format", `${file.description}; supported formats: ${importFormats.join(", ")}`);
  // Every table can be read as a generic one, and a generic table may come from a program with
  // additional columns.
  const agree = file.format === undefined || file.format === format || bothTables(file.format, format);
  if (!agree) throw new ImportError("wrong_format", `this is no ${format}: it looks like ${file.format}`);
  if (mapped && !tables.includes(format))
    throw new ImportError("wrong_format", `${format} is no table: only a table's columns can be mapped`);
  return format;
}

function bothTables(found: ImportFormat, named: ImportFormat): boolean {
  return (found === "csv" && tables.includes(named)) || (named === "csv" && tables.includes(found));
}

async function readAs(format: ImportFormat, bytes: Uint8Array, include: Include, map: ColumnMap): Promise<Reading> {
  switch (format) {
    case "bitwarden-json":
      return (await import("./bitwarden/read-file.ts")).readBitwardenFile(bytes, include);
    case "bitwarden-csv":
      return (await import("./bitwarden/read-csv.ts")).readBitwardenCsv(bytes, include, map);
    case "1pux":
      return (await import("./onepassword/read-1pux.ts")).read1pux(bytes, include);
    case "keepass-xml":
      return (await import("./keepass/read-xml.ts")).readKeepassXml(bytes, include);
    case "chrome-csv":
      return (await import("./chrome/read-csv.ts")).readChromeCsv(bytes, map);
    case "lastpass-csv":
      return (await import("./lastpass/read-csv.ts")).readLastpassCsv(bytes, map);
    case "csv":
      return (await import("./table/read-table.ts")).readTable(bytes, include, map);
    case "coffer-json":
      return (await import("./coffer/json.ts")).readCofferJson(bytes);
  }
}

/** The size limit of a sealed record, in base64 characters. */
const longestSealed = 256 * 1024;
/** The overhead of sealing: a byte for the version, the nonce, the tag. */
const sealing = 1 + 12 + 16;

/** Whether the service accepts the sealed record. */
function fitsOneRecord(payload: RecordPayload): boolean {
  return Math.ceil((encodeRecord(payload).length + sealing) / 3) * 4 <= longestSealed;
}
