import type { Unchecked } from "../store/unchecked.ts";

/** For `access/` alone (an import rule): what was read, for the check of its caller. */
export function opened<Row>(read: Unchecked<Row>): Row {
  return read as unknown as Row; // `unchecked` has closed only its type.
}
