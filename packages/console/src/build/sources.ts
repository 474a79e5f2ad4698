import { createHash } from "node:crypto";
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";

/** The folder that holds `packages`, in a checkout or in an image. */
export const root = fileURLToPath(new URL("../../../../", import.meta.url));

/** The packages whose sources are in the console. */
const packages = ["console", "contract", "crypto", "events", "history", "import", "sdk"];

/** The dependencies that are in the console, or make it. Their manifests say which version is installed. */
const dependencies = [
  ...["@rgrove/parse-xml", "@zip.js/zip.js", "csv-parse"],
  ...["@noble/hashes", "@preact/signals", "@preact/signals-core", "@scure/bip39", "@serenity-kit/opaque"],
  ...["canonicalize", "esbuild", "jose", "preact", "uqr"],
];

/** Lower-case hex SHA-256 of all that a build is made from. */
export function sourcesHash(from: string = root): string {
  const hash = createHash("sha256");
  const files = packages.flatMap((name) => filesBelow(from, join("packages", name, "src")));
  const manifests = dependencies.map((name) => join("node_modules", name, "package.json"));
  for (const file of [...manifests, ...files])
    hash.update(`${file.replaceAll("\\", "/")}\0${contentHash(join(from, file))}\n`);
  return hash.digest("hex");
}

function contentHash(path: string): string {
  return createHash("sha256").update(readFileSync(path)).digest("hex");
}

function filesBelow(from: string, folder: string): string[] {
  return readdirSync(join(from, folder), { withFileTypes: true })
    .sort((a, b) => (a.name < b.name ? -1 : 1))
    .flatMap((entry) => {
      const path = join(folder, entry.name);
      return entry.isDirectory() ? filesBelow(from, path) : [path];
    });
}
