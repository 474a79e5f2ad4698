const pieceCharacters = 64 * 1024;

/** Rows as items of a JSON array, in pieces that need no more memory than a single large one. */
export function* partText<Row>(rows: readonly Row[], view: (row: Row) => unknown, before: "" | ","): Generator<string> {
  let text = "";
  let separator: string = before;
  for (const row of rows) {
    text += separator + JSON.stringify(view(row));
    separator = ",";
    if (text.length < pieceCharacters) continue;
    yield text;
    text = "";
  }
  if (text !== "") yield text;
}
