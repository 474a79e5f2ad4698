// tidy.ts FOLDER SERVICE, in the build of an image after npm.
import { globSync, readdirSync, readFileSync, rmdirSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { pathToFileURL } from "node:url";

/** Node runs no TypeScript below node_modules, so an image needs no types and sources of packages. */
const unusedFile = /\.(map|ts|mts|cts)$|\.(test|spec)\.[cm]?js$|^\./;
const unusedFolder = /^(test|tests|__tests__|\..*)$/;

/** Removes files that no service needs at run time. */
export function tidy(folder: string, service: string): void {
  for (const modules of ["node_modules", ...globSync("{packages,services}/*/node_modules", { cwd: folder })])
    tidyFolder(join(folder, modules));
  for (const file of ["package-lock.json", ".npmrc"]) rmSync(join(folder, file));
  normalizeBill(join(folder, "sbom.cdx.json"), `coffer-${service}`);
}

/** Removes empty folders. Returns whether the folder itself is removed. Does not follow links. */
function tidyFolder(folder: string): boolean {
  let left = 0;
  for (const entry of readdirSync(folder, { withFileTypes: true })) {
    const path = join(folder, entry.name);
    if (entry.isDirectory() ? unusedFolder.test(entry.name) : unusedFile.test(entry.name))
      rmSync(path, { recursive: true });
    else if (!entry.isDirectory() || !tidyFolder(path)) left += 1;
  }
  if (left > 0) return false;
  rmdirSync(folder);
  return true;
}

interface Bill {
  serialNumber?: string;
  metadata: { timestamp?: string; component: { name: string } };
}

/**
 * Makes two builds of one commit equal: CycloneDX does not require time and number. npm names the bill
 * after its working folder.
 */
export function normalizeBill(file: string, name: string): void {
  const bill = JSON.parse(readFileSync(file, "utf8")) as Bill; // npm sbom wrote it
  delete bill.serialNumber;
  delete bill.metadata.timestamp;
  bill.metadata.component.name = name;
  writeFileSync(file, `${JSON.stringify(bill, null, 2)}\n`);
}

if (import.meta.url === pathToFileURL(process.argv[1] ?? "").href) {
  const [folder, service] = process.argv.slice(2);
  if (folder === undefined || service === undefined) throw new Error("usage: tidy.ts FOLDER SERVICE");
  tidy(folder, service);
}
