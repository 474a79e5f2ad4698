import type { ExportRecord } from "../export-record.ts";
import { splitFolder } from "../folder-path.ts";
import { vaultOfNone } from "./vault-of-none.ts";
import { writeItem } from "./write-item.ts";

/**
 * Writes `export.data` of a 1PUX. A folder becomes a vault. 1Password does not nest vaults, so the
 * name of a nested one is its path, which each item has too.
 */
export function writeExportData(records: readonly ExportRecord[]): string {
  const vaults = new Map<string, object[]>();
  for (const record of records) {
    const folder = record.payload["folder"] ?? "";
    vaults.set(folder, [...(vaults.get(folder) ?? []), writeItem(record)]);
  }
  const account = { accountName: "Coffer", name: "Coffer", avatar: "", email: "", uuid: "COFFER", domain: "" };
  return JSON.stringify({
    accounts: [
      {
        attrs: account,
        vaults: [...vaults].map(([folder, items], index) => ({
          attrs: { uuid: `VAULT${index + 1}`, avatar: "", type: "U", ...titleOf(folder) },
          items,
        })),
      },
    ],
  });
}

/** The other file of the archive. `seconds` are since 1970. */
export function writeExportAttributes(seconds: number): string {
  return JSON.stringify({ version: 3, description: "1Password Unencrypted Export", createdAt: seconds });
}

function titleOf(folder: string): { name: string; desc: string } {
  return folder === "" ? vaultOfNone : { name: splitFolder(folder).join("/"), desc: "" };
}
