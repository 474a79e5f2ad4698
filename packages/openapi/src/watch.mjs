// Preloaded into the processes of an installation under test: those that serve the interface
// compare what they do with its description, and append what is not as described to the file that
// is named here.
import { appendFileSync } from "node:fs";
import process from "node:process";

const file = process.env.DESCRIPTION_PROBLEMS;
const serves = /\/(?:deploy\/local\/src\/start|services\/[^/]+\/src\/main)\.ts$/;

// npm and the launcher may run on an older Node, and serve nothing.
if (file !== undefined && serves.test(process.argv[1] ?? "")) {
  const { watchServers } = await import("./watch-servers.ts");
  watchServers((line) => appendFileSync(file, `${line}\n`));
}
