import { existsSync, readFileSync } from "node:fs";
import { DescriptionError } from "./check-exchange.ts";

const preload = new URL("watch.mjs", import.meta.url);

/**
 * The environment in which `npm start` compares every exchange with the description, whoever the client is.
 * @param file where the processes write down what is not as described
 */
export function watchedEnvironment(file: string): Record<string, string> {
  // An address, not a path: a blank in a path would end the option.
  return { NODE_OPTIONS: `--import=${preload.href}`, DESCRIPTION_PROBLEMS: file };
}

/** Throws DescriptionError when something was not as described. */
export function requireAsDescribed(file: string): void {
  if (!existsSync(file)) return;
  const lines = readFileSync(file, "utf8").trimEnd().split("\n");
  throw new DescriptionError("what the installation was asked or answered", [...new Set(lines)]);
}
