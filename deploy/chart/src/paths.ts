import { resolve } from "node:path";

/** The folder that holds the whole project. */
export const checkout = resolve(import.meta.dirname, "../../..");

/** The chart. */
export const chart = resolve(checkout, "charts/coffer");

/** Where the tools are that a lock file of their own names. */
export const tools = resolve(import.meta.dirname, "../tools");

/** Where programs are stored that were built or unpacked for the checks. */
export const cache = resolve(checkout, "node_modules/.cache/coffer/chart");
