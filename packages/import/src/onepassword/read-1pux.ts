import { decodeJson, decodeText } from "../decode-text.ts";
import { ImportError } from "../import-error.ts";
import type { Include } from "../include.ts";
import { joinFolder } from "../folder-path.ts";
import { asObject, asObjects, asText, isObject, type Loose, otherMembers, strayTexts } from "../loose.ts";
import { isZip } from "../magic.ts";
import { newReading, type Reading } from "../report.ts";
import { readItem } from "./read-item.ts";
import { vaultOfNone } from "./vault-of-none.ts";

/**
 * Reads 1Password's 1PUX: an archive with `export.data`, or that file alone. Each vault becomes a
 * folder. Attached files are reported. Throws ImportError `broken`, `too_large`, `wrong_format`.
 */
export async function read1pux(bytes: Uint8Array, include: Include): Promise<Reading> {
  if (!isZip(bytes)) return readExportData(bytes, include);
  // Loaded only for archives, because it is larger than the rest of this package.
  const { withArchive } = await import("../zip/read-zip.ts");
  return withArchive(bytes, async ({ names, read }) => {
    const data = await read("export.data");
    if (data === undefined) throw new ImportError("wrong_format", "this is no 1pux: the archive holds no export.data");
    const reading = readExportData(data, include);
    // A file's name starts with the id under which its item names it.
    const text = decodeText(data);
    for (const name of names) {
      const id = /^files\/(.+?)___?/.exec(name)?.[1];
      if (
        !["export.data", "export.attributes"].includes(name) &&
        (id === undefined || !text.includes(JSON.stringify(id)))
      )
        reading.leftOut.push({ kind: "attachment", item: null, reason: `the file "${name}", which no item names` });
    }
    return reading;
  });
}

/** The content of `export.data`. Throws ImportError `broken`, `wrong_format`. */
export function readExportData(bytes: Uint8Array, include: Include): Reading {
  const file = asObject(decodeJson(bytes));
  if (!Array.isArray(file["accounts"]))
    throw new ImportError("wrong_format", "this is no 1pux: an object with a list of `accounts` was expected");
  const accounts = asObjects(file["accounts"]);
  const reading = newReading();
  for (const account of accounts)
    for (const vault of asObjects(account["vaults"])) {
      const attrs = asObject(account["attrs"]);
      // Vaults of two accounts may have one name.
      const above = accounts.length === 1 ? [] : [asText(attrs["accountName"]) || asText(attrs["name"])];
      readVault(vault, above, { include, reading });
    }
  for (const [key] of otherMembers(file, ["accounts"]))
    reading.leftOut.push({ kind: "field", item: null, reason: `"${key}", which is not known` });
  return reading;
}

function readVault(
  vault: Loose,
  above: readonly string[],
  { include, reading }: { include: Include; reading: Reading },
): void {
  const attrs = asObject(vault["attrs"]);
  const ofNone = attrs["name"] === vaultOfNone.name && attrs["desc"] === vaultOfNone.desc;
  const name = ofNone ? "" : asText(attrs["name"]);
  const leaveOut = (kind: "setting" | "attachment" | "item", reason: string): void =>
    void reading.leftOut.push({ kind, item: null, reason });
  if (!ofNone && asText(attrs["desc"]) !== "") leaveOut("setting", `the description of the vault "${name}"`);
  const entries = asObjects(vault["items"]);
  const strays = strayTexts(vault["items"]).length;
  if (strays > 0) leaveOut("item", `entries of the vault "${name}" that are no items: ${strays}`);
  if (entries.length === 0) leaveOut("setting", `the vault "${name}" holds nothing`);
  for (const entry of entries) {
    // Older versions wrap an item, or a file without an item.
    const item = isObject(entry["item"]) ? entry["item"] : entry;
    if (!("file" in entry)) readItem(item, { folder: joinFolder([...above, name]), include, reading });
    else leaveOut("attachment", `the file "${asText(asObject(asObject(entry["file"])["attrs"])["name"])}"`);
  }
}
