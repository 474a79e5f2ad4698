import { homedir } from "node:os";
import { resolve } from "node:path";

/** The folder that holds the whole project. */
export const checkout = resolve(import.meta.dirname, "../../..");

/** The chart. */
export const chart = resolve(checkout, "charts/coffer");

/** The folder of tools with their own lock file. */
export const tools = resolve(import.meta.dirname, "../tools");

/** The folder of programs that were unpacked for the checks. */
export const cache = resolve(checkout, "node_modules/.cache/coffer/chart");

/** The folder of programs that took minutes to build: outside the checkout, for the next one. */
export const programs = resolve(process.env["XDG_CACHE_HOME"] ?? resolve(homedir(), ".cache"), "coffer/chart");
