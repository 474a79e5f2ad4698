import type { CsvFile } from "./csv/write-csv.ts";
import type { ExportFormat } from "./formats.ts";
import type { ExportRecord } from "./export-record.ts";
import { type CheckedFormat, lostFields } from "./lost-fields.ts";
import type { LeftOut } from "./report.ts";

export interface WriteOptions {
  /**
   * In tables, cells that a spreadsheet would take for a formula get an apostrophe: names and notes
   * always, with this option also user names, passwords and secrets, which other programs then read
   * with the apostrophe.
   */
  forSpreadsheets?: boolean | undefined;
}

/** A file's text, and what it cannot hold. */
export interface WrittenFile {
  /** For an archive, the text of the file with the records. */
  text: string;
  /** The whole file, if it is no text. */
  archive?: Uint8Array;
  leftOut: LeftOut[];
  /** Notes about the whole file, in sentences for a person. */
  notes: string[];
}

/** Writes records in the format of another program. The text contains every secret in the clear. */
export async function writeExport(
  format: ExportFormat,
  records: readonly ExportRecord[],
  { forSpreadsheets = false }: WriteOptions = {},
): Promise<WrittenFile> {
  switch (format) {
    case "coffer-json":
      return { text: (await import("./coffer/json.ts")).writeCofferJson(records), leftOut: [], notes: [] };
    case "bitwarden-json":
      return checked(records, await bitwardenJson());
    case "bitwarden-csv":
      return table((await import("./bitwarden/write-csv.ts")).writeBitwardenCsv(records, forSpreadsheets));
    case "1pux":
      return onepux(records);
    case "keepass-xml":
      return checked(records, await keepassXml());
    case "chrome-csv":
      return table((await import("./chrome/write-csv.ts")).writeChromeCsv(records, forSpreadsheets));
    case "lastpass-csv":
      return lastpassCsv(records, forSpreadsheets);
  }
}

/** A file of a format that can hold everything, and the exceptions. */
function checked(records: readonly ExportRecord[], format: CheckedFormat): WrittenFile {
  const { held, leftOut } = lostFields(records, format);
  return { text: format.write(held), leftOut, notes: [] };
}

const all = { archived: true, deleted: true };

async function bitwardenJson(): Promise<CheckedFormat> {
  const { writeBitwardenJson, whyNotInBitwardenJson } = await import("./bitwarden/write-json.ts");
  const { readBitwardenJson } = await import("./bitwarden/read-json.ts");
  return {
    write: writeBitwardenJson,
    read: (bytes) => readBitwardenJson(bytes, all).records,
    why: whyNotInBitwardenJson,
  };
}

async function onepux(records: readonly ExportRecord[]): Promise<WrittenFile> {
  const { writeExportAttributes, writeExportData } = await import("./onepassword/write-1pux.ts");
  const { readExportData } = await import("./onepassword/read-1pux.ts");
  const { writeZip } = await import("./zip/write-zip.ts");
  const written = checked(records, {
    write: writeExportData,
    read: (bytes) => readExportData(bytes, all).records,
    why: () => undefined,
  });
  const attributes = writeExportAttributes(Math.floor(Date.now() / 1000));
  return { ...written, archive: await writeZip({ "export.attributes": attributes, "export.data": written.text }) };
}

async function keepassXml(): Promise<CheckedFormat> {
  const { oddInKeepass, writeKeepassXml, whyNotInKeepassXml } = await import("./keepass/write-xml.ts");
  const { readKeepassXml } = await import("./keepass/read-xml.ts");
  return {
    write: writeKeepassXml,
    read: (bytes) => readKeepassXml(bytes, all).records,
    why: whyNotInKeepassXml,
    odd: oddInKeepass,
  };
}

/** The table cannot hold values without a column, so every lost value is reported. */
async function lastpassCsv(records: readonly ExportRecord[], quoteAll: boolean): Promise<WrittenFile> {
  const { lastpassTypes, whyNotInLastpassCsv, writeLastpassCsv } = await import("./lastpass/write-csv.ts");
  const { readLastpassCsv } = await import("./lastpass/read-csv.ts");
  const others = records.filter(({ type }) => !lastpassTypes.includes(type));
  const { held, leftOut } = lostFields(
    records.filter(({ type }) => lastpassTypes.includes(type)),
    {
      write: (each) => writeLastpassCsv(each, quoteAll).text,
      read: (bytes) => readLastpassCsv(bytes, {}).records,
      why: whyNotInLastpassCsv,
    },
  );
  const items: LeftOut[] = others.map(({ id, type, payload }) => ({
    kind: "item",
    item: payload["name"] ?? id,
    reason: `the format has no place for the type ${type}`,
  }));
  return table({ ...writeLastpassCsv(held, quoteAll), leftOut: [...items, ...leftOut] });
}

function table({ text, formulas, leftOut }: CsvFile & { leftOut: LeftOut[] }): WrittenFile {
  const note = `a spreadsheet would take ${formulas} user names, passwords or secrets for formulas: do not open the file in one`;
  return { text, leftOut, notes: formulas === 0 ? [] : [note] };
}
