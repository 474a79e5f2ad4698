// main.ts [FOLDER]: builds the console. `npm start` does it by itself.
import { resolve } from "node:path";
import { buildConsole } from "./build.ts";
import { releaseFolder } from "./current.ts";

const folder = resolve(process.argv[2] ?? releaseFolder);
const { files } = await buildConsole(folder);
process.stdout.write(`${folder}: ${files.length} files\n`);
