import { compactJws } from "@coffer/http";

/** A signed entry of a history: a compact JWS. */
export const entryText = compactJws(64);
