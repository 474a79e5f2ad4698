import { decodeJson } from "../decode-text.ts";
import { ImportError } from "../import-error.ts";
import type { Include } from "../include.ts";
import { asObject, asObjects, asText } from "../loose.ts";
import { isZip } from "../magic.ts";
import { newReading } from "../report.ts";
import type { Reading } from "../report.ts";
import { readItem } from "./read-item.ts";
import { vaultOfNone } from "./vault-of-none.ts";

/**
 * 1Password's 1PUX: an archive with `export.data`; that file alone is read too. Each vault becomes a folder. Attached
 * files are named in the report. Throws ImportError `broken`, `too_large`, `wrong_format`.
 */
export async function read1pux(bytes: Uint8Array, include: Include): Promise<Reading> {
  if (!isZip(bytes)) return readExportData(bytes, include);
  // Loaded only for archives: it is larger than the rest of this package.
  const { withArchive } = await import("../zip/read-zip.ts");
  return withArchive(bytes, async ({ read }) => {
    const data = await read("export.data");
    if (data === undefined) throw new ImportError("wrong_format", "this is no 1pux: the archive holds no export.data");
    return readExportData(data, include);
  });
}

/** What `export.data` holds. Throws ImportError `broken`, `wrong_format`. */
export function readExportData(bytes: Uint8Array, include: Include): Reading {
  const { accounts } = asObject(decodeJson(bytes));
  if (!Array.isArray(accounts))
    throw new ImportError("wrong_format", "this is no 1pux: an object with a list of `accounts` was expected");
  const reading = newReading();
  for (const account of asObjects(accounts))
    for (const vault of asObjects(account["vaults"])) {
      const attrs = asObject(vault["attrs"]);
      const ofNone = attrs["name"] === vaultOfNone.name && attrs["desc"] === vaultOfNone.desc;
      const name = ofNone ? "" : asText(attrs["name"]);
      const entries = asObjects(vault["items"]);
      if (entries.length === 0)
        reading.leftOut.push({ kind: "setting", item: null, reason: `the vault "${name}" holds nothing` });
      for (const entry of entries) {
        // Older versions wrap an item, or a file that belongs to none.
        const item = "item" in entry ? asObject(entry["item"]) : entry;
        if (!("file" in entry)) readItem(item, { vault: name, include, reading });
        else
          reading.leftOut.push({
            kind: "attachment",
            item: null,
            reason: `the file "${asText(asObject(asObject(entry["file"])["attrs"])["name"])}"`,
          });
      }
    }
  return reading;
}
