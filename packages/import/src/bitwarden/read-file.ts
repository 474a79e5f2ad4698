import { ImportError } from "../import-error.ts";
import type { Include } from "../include.ts";
import { isZip } from "../magic.ts";
import type { Reading } from "../report.ts";

import { readBitwardenJson } from "./read-json.ts";

/**
 * Bitwarden's JSON, or its zip with attachments: `data.json`, and the files in `attachments/<item's
 * name>/`.
 */
export async function readBitwardenFile(bytes: Uint8Array, include: Include): Promise<Reading> {
  if (!isZip(bytes)) return readBitwardenJson(bytes, include);
  const { withArchive } = await import("../zip/read-zip.ts");
  return withArchive(bytes, async ({ names, read }) => {
    const data = await read("data.json");
    if (data === undefined)
      throw new ImportError("wrong_format", "this is no bitwarden-json: the archive holds no data.json");
    const reading = readBitwardenJson(data, include);
    for (const name of names)
      if (name !== "data.json") {
        const [file, item] = name.split("/").reverse();
        reading.leftOut.push({ kind: "attachment", item: item ?? null, reason: `the attached file "${file ?? ""}"` });
      }
    return reading;
  });
}
