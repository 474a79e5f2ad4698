import { resolve } from "node:path";

/** The folder that holds the whole project. */
export const checkout = resolve(import.meta.dirname, "../../..");
