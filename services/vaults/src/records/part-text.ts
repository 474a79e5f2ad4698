import type { RecordRow } from "../store/records.ts";
import { recordView } from "./view.ts";

const pieceCharacters = 64 * 1024;

/** Records as items of a JSON array, in pieces that need no more memory than a single large one. */
export function* partText(rows: readonly RecordRow[], before: "" | ","): Generator<string> {
  let text = "";
  let separator: string = before;
  for (const row of rows) {
    text += separator + JSON.stringify(recordView(row));
    separator = ",";
    if (text.length < pieceCharacters) continue;
    yield text;
    text = "";
  }
  if (text !== "") yield text;
}
