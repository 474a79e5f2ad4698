// Writes docs/spec/openapi.json from docs/spec/api.
import { writeFile } from "node:fs/promises";
import { bundledDescription, bundleFile } from "./bundle.ts";

await writeFile(bundleFile, await bundledDescription());
