import t from "tap";
import { type ImportedFile, type LeftOut, type PlainRecord, readImport, writeExport } from "../src/index.ts";
import { bitwardenJson, cofferJson, onepasswordData } from "./generated/json-files.ts";
import { keepassXml } from "./generated/keepass-files.ts";
import { type GeneratedFile, type Maker, newMaker, type Placed } from "./generated/maker.ts";
import { anyCsv, bitwardenCsv, chromeCsv, lastpassCsv } from "./generated/tables.ts";
import { bytesOf, withIds } from "./records.ts";

const generators: Readonly<Record<string, (make: Maker) => GeneratedFile>> = {
  "bitwarden-json": bitwardenJson,
  "bitwarden-csv": bitwardenCsv,
  "1pux": onepasswordData,
  "keepass-xml": keepassXml,
  "chrome-csv": chromeCsv,
  "lastpass-csv": lastpassCsv,
  csv: anyCsv,
  "coffer-json": cofferJson,
};
const given = process.env["IMPORT_SEED"];
const seeds = given === undefined ? Array.from({ length: 250 }, (_, index) => index + 1) : [Number(given)];

/** All texts of the records, also field names. Tags and folder parts are in texts of several lines. */
function textOf(records: readonly PlainRecord[]): string[] {
  return records.flatMap(({ payload }) => Object.entries(payload).flat());
}

function isNamed({ leftOutAs, item }: Placed, leftOut: readonly LeftOut[]): boolean {
  if (leftOutAs === undefined) return false;
  const names = (each: LeftOut): boolean =>
    item === undefined || each.item === item || (item === "line" && each.item?.startsWith("line ") === true);
  return leftOut.some((each) => each.reason.includes(leftOutAs) && names(each));
}

/** Values that are neither in a record nor reported, and secret ones that a report shows. */
function faultsOf({ placed }: GeneratedFile, { records, leftOut, notes }: ImportedFile): string[] {
  const texts = textOf(records);
  const reported = JSON.stringify([leftOut, notes]);
  return placed.flatMap((each) => {
    // A value inside a link or JSON is encoded as there.
    const inJson = JSON.stringify(each.value).slice(1, -1);
    const inLink = encodeURIComponent(each.value);
    const found = texts.some((text) => [each.value, inJson, inLink].some((written) => text.includes(written)));
    const [start = ""] = each.value
      .split("v", 2)
      .slice(1, 2)
      .map((number) => `v${number}v`);
    return [
      ...(found || isNamed(each, leftOut) ? [] : [`lost: ${each.where}: ${JSON.stringify(each.value)}`]),
      ...(!each.isName && reported.includes(start) ? [`shown: ${each.where}`] : []),
    ];
  });
}

for (const [format, generate] of Object.entries(generators))
  await t.test(`${format}: every value of a generated file is in a record, or named as left out`, async (t) => {
    let values = 0;
    for (const seed of seeds) {
      const file = generate(newMaker(seed));
      const read = await readImport(file.bytes, { format: file.format });
      values += file.placed.length;
      const faults = faultsOf(file, read);
      if (faults.length > 0) t.fail(`IMPORT_SEED=${seed}\n${faults.join("\n")}`);
      if (t.counts.fail > 3) return;
    }
    t.ok(values > seeds.length, `${values} values`);
  });

for (const [format, generate] of Object.entries(generators))
  await t.test(`${format}: the records of a generated file are written and read again`, async (t) => {
    for (const seed of seeds.slice(0, 40)) {
      const { bytes, format: from } = generate(newMaker(seed));
      const { records } = await readImport(bytes, { format: from });
      for (const to of ["coffer-json", "bitwarden-json", "1pux", "keepass-xml"] as const) {
        const written = await writeExport(to, withIds(records));
        const again = await readImport(written.archive ?? bytesOf(written.text), { format: to, archived: true });
        const reported = [...written.leftOut, ...again.leftOut].map(({ item }) => item);
        const texts = new Set(again.records.map(contentOf));
        for (const record of records)
          if (!texts.has(contentOf(record)) && !reported.includes(record.payload["name"] ?? ""))
            t.fail(`IMPORT_SEED=${seed} through ${to}: ${JSON.stringify(record)}`);
        if (t.counts.fail > 3) return;
      }
    }
    t.pass("every record comes back, or what does not is named");
  });

function contentOf({ type, payload }: PlainRecord): string {
  const fields = Object.entries(payload).filter(([, value]) => value !== "");
  return JSON.stringify([type, fields.sort(([a], [b]) => (a < b ? -1 : 1))]);
}
