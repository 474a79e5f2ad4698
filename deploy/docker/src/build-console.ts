// build-console.ts FOLDER SERVICE, in the build of an image after the sources.
import { execFileSync } from "node:child_process";
import { rmSync } from "node:fs";
import { join } from "node:path";
import { pathToFileURL } from "node:url";

/** Builds the console's files in the image that serves them, and removes the program that built them. */
export function buildConsole(folder: string, service: string): void {
  if (service !== "console") return;
  execFileSync(process.execPath, [join(folder, "packages/console/src/build/main.ts")], { stdio: "ignore" });
  for (const name of ["esbuild", "@esbuild"]) rmSync(join(folder, "node_modules", name), { recursive: true });
}

if (import.meta.url === pathToFileURL(process.argv[1] ?? "").href) {
  const [folder, service] = process.argv.slice(2);
  if (folder === undefined || service === undefined) throw new Error("usage: build-console.ts FOLDER SERVICE");
  buildConsole(folder, service);
}
