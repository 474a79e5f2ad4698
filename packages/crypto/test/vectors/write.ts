import { mkdir, writeFile } from "node:fs/promises";
import { vectorDirectory, vectorFiles } from "./files.ts";

await mkdir(vectorDirectory, { recursive: true });
for (const [name, text] of Object.entries(vectorFiles())) await writeFile(new URL(name, vectorDirectory), text);
