import { globSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { checkout } from "../../../local/src/checkout.ts";

const folder = join(checkout, "node_modules/node");

/** The Node of the lock file, which executables contain. */
export const nodeProgram = join(folder, "bin/node");

export function nodeVersion(): string {
  return (JSON.parse(readFileSync(join(folder, "package.json"), "utf8")) as { version: string }).version; // npm's
}

/**
 * The licences of Node. The package that has them is there after `npm ci`; a later `npm install` removes
 * it, and then this is
 * their address.
 * @throws Error without the licences, if they are `required`
 */
export function nodeLicenses(required: boolean): string {
  const [file] = globSync("node_modules/node-*/LICENSE", { cwd: folder });
  if (file !== undefined) return readFileSync(join(folder, file), "utf8");
  if (required) throw new Error(`${folder} has no licences of Node: run npm ci with install scripts allowed`);
  return `https://github.com/nodejs/node/blob/v${nodeVersion()}/LICENSE`;
}
