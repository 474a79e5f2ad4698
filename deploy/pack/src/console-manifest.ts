import { copyFileSync, mkdtempSync, rmSync } from "node:fs";
import { join } from "node:path";
import { buildConsole } from "@coffer/console-app/build";
import { manifestName } from "@coffer/console-app/manifest";

/** Builds the console and copies its manifest into the command, for `coffer console verify`. */
export async function addConsoleManifest(checkout: string): Promise<void> {
  const dist = join(checkout, "packages/cli/dist");
  const folder = mkdtempSync(join(dist, "console-"));
  try {
    await buildConsole(join(folder, "build"), checkout);
    copyFileSync(join(folder, "build", manifestName), join(dist, "console-manifest.json"));
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}
