declare const row: unique symbol;

/**
 * What a statement read together with the state that authorizes its caller. Nobody can use it until
 * `opened` of `access/` has opened it, which checks that state first.
 */
export interface Unchecked<Row> {
  readonly [row]: Row;
}

export function unchecked<Row>(read: Row): Unchecked<Row> {
  return read as unknown as Unchecked<Row>; // The same value; only its type is closed.
}
