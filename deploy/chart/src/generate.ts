import { mkdirSync, writeFileSync } from "node:fs";
import { dirname, resolve } from "node:path";
import { generatedFiles } from "./generated-files.ts";
import { checkout } from "./paths.ts";

for (const [path, text] of Object.entries(await generatedFiles())) {
  mkdirSync(dirname(resolve(checkout, path)), { recursive: true });
  writeFileSync(resolve(checkout, path), text);
}
