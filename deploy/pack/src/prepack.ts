// Run by npm before it packs a package, in that package's folder: compiles it, and puts the manifest in place that fits
// what was compiled. postpack.ts makes all that undone.
import { copyFileSync } from "node:fs";
import { join, resolve } from "node:path";
import { compile } from "./compile.ts";
import { readManifest, replaceManifest, restoreFolder } from "./package-folder.ts";
import { publishedManifest } from "./published-manifest.ts";

const folder = process.cwd();
restoreFolder(folder);
try {
  compile(folder);
  copyFileSync(resolve(import.meta.dirname, "../../../LICENSE"), join(folder, "LICENSE"));
  replaceManifest(folder, publishedManifest(readManifest(folder)));
} catch (error) {
  restoreFolder(folder);
  throw error;
}
