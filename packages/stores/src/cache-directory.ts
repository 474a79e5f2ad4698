import { resolve } from "node:path";

/** The folder of unpacked servers in a checkout, so that each is downloaded once. */
export const checkoutCache = resolve(import.meta.dirname, "../../../node_modules/.cache/coffer/stores");
