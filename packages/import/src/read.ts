import { describeFile } from "./guess-format.ts";
import type { ImportFormat } from "./formats.ts";
import { importFormats } from "./formats.ts";
import { ImportError } from "./import-error.ts";
import type { Include } from "./include.ts";
import { fitsOneRecord } from "./record-size.ts";
import type { Reading } from "./report.ts";
import { stackEnded } from "./stack-ended.ts";

export interface ReadOptions extends Partial<Include> {
  /** Guessed from what the file holds, when it is not given. */
  format?: ImportFormat | undefined;
}

/** What a file came to. */
export interface ImportedFile extends Reading {
  format: ImportFormat;
}

/**
 * Reads a file of another password manager: every item becomes a record, and what becomes none is told. Nothing is sent
 * and nothing is kept. Throws ImportError for a file that cannot be read as a whole.
 */
export async function readImport(bytes: Uint8Array, options: ReadOptions = {}): Promise<ImportedFile> {
  const file = describeFile(bytes);
  const format = options.format ?? file.format;
  if (format === undefined)
    throw new ImportError("unknown_format", `${file.description}; what is read: ${importFormats.join(", ")}`);
  if (file.format !== undefined && file.format !== format)
    throw new ImportError("wrong_format", `this is no ${format}: it looks like ${file.format}`);
  const include = { archived: options.archived ?? false, deleted: options.deleted ?? false };
  const reading = await readAs(format, bytes, include).catch((error: unknown) => {
    throw stackEnded(error) ? new ImportError("broken", "the file is nested too deeply") : error;
  });
  const records = reading.records.filter(({ payload }) => {
    const fits = fitsOneRecord(payload);
    if (!fits)
      reading.leftOut.push({ kind: "item", item: payload["name"] ?? null, reason: "it is larger than 256 KiB" });
    return fits;
  });
  return { ...reading, records, format };
}

async function readAs(format: ImportFormat, bytes: Uint8Array, include: Include): Promise<Reading> {
  switch (format) {
    case "bitwarden-json":
      return (await import("./bitwarden/read-file.ts")).readBitwardenFile(bytes, include);
    case "bitwarden-csv":
      return (await import("./bitwarden/read-csv.ts")).readBitwardenCsv(bytes, include);
    case "1pux":
      return (await import("./onepassword/read-1pux.ts")).read1pux(bytes, include);
    case "keepass-xml":
      return (await import("./keepass/read-xml.ts")).readKeepassXml(bytes, include);
    case "chrome-csv":
      return (await import("./chrome/read-csv.ts")).readChromeCsv(bytes);
    case "lastpass-csv":
      return (await import("./lastpass/read-csv.ts")).readLastpassCsv(bytes);
    case "coffer-json":
      return (await import("./coffer/json.ts")).readCofferJson(bytes);
  }
}
