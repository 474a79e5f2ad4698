declare const row: unique symbol;

/**
 * Rows from a statement that also read the caller's state. The type hides the rows: only `access/`
 * can open them, and it checks the caller's state.
 */
export interface Unchecked<Row> {
  readonly [row]: Row;
}

export function unchecked<Row>(read: Row): Unchecked<Row> {
  return read as unknown as Unchecked<Row>; // The same value; only its type is closed.
}
