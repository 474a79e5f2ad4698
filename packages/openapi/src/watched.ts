import { existsSync, readFileSync } from "node:fs";
import { DescriptionError } from "./check-exchange.ts";

const preload = new URL("watch.mjs", import.meta.url);

/**
 * The environment in which `npm start` compares every exchange with the description.
 * @param file receives the deviations of all processes
 */
export function watchedEnvironment(file: string): Record<string, string> {
  // A URL, not a path: a blank in a path would end the option.
  return { NODE_OPTIONS: `--import=${preload.href}`, DESCRIPTION_PROBLEMS: file };
}

/** Throws DescriptionError if there was a deviation. */
export function requireAsDescribed(file: string): void {
  if (!existsSync(file)) return;
  const lines = readFileSync(file, "utf8").trimEnd().split("\n");
  throw new DescriptionError("the exchanges of the installation", [...new Set(lines)]);
}
