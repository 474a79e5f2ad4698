import { copyFileSync, mkdtempSync, rmSync } from "node:fs";
import { join } from "node:path";
import { buildConsole } from "@coffer/console-app/build";
import { manifestName } from "@coffer/console-app/manifest";

/** Builds the console, and puts its manifest beside the command, which compares what an address serves with it. */
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
