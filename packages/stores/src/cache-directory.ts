import { resolve } from "node:path";

/** Where unpacked servers are kept in a checkout, so that each is downloaded once. */
export const checkoutCache = resolve(import.meta.dirname, "../../../node_modules/.cache/coffer/stores");
