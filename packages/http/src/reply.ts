const kind: unique symbol = Symbol("reply");

/** An answer with an entity tag, so that the caller can ask again with `If-None-Match`. */
export interface Tagged {
  readonly [kind]: "tagged";
  readonly tag: string;
  readonly value: unknown;
}

/** The caller holds the present version already: 304 without a body. */
export interface NotModified {
  readonly [kind]: "not_modified";
  readonly tag: string;
}

/**
 * The answer `value` with `ETag: "tag"`. `tag` is unquoted and consists of the characters of an entity tag (visible,
 * no quotation mark).
 */
export function tagged(tag: string, value: unknown): Tagged {
  return { [kind]: "tagged", tag, value };
}

/** 304 with `ETag: "tag"`, for a caller whose `held` tags include it. */
export function notModified(tag: string): NotModified {
  return { [kind]: "not_modified", tag };
}

/** An answer with an entity tag that is too large to be held as a whole. */
export interface Streamed {
  readonly [kind]: "streamed";
  readonly tag: string;
  readonly parts: AsyncIterable<string>;
}

/**
 * The answer that `parts` are the JSON text of, with `ETag: "tag"`. Each part is asked for when the caller has taken
 * those before it. What is thrown before the first is answered like any error; after it the connection is cut, so that
 * nobody takes a part for the whole, and the error is recorded and logged like any other. A caller who goes away is one
 * for whom no more parts are asked.
 */
export function streamed(tag: string, parts: AsyncIterable<string>): Streamed {
  return { [kind]: "streamed", tag, parts };
}

interface ReadReply {
  tag: string | undefined;
  /** The caller holds it already. */
  held: boolean;
  value: unknown;
  parts?: AsyncIterable<string>;
}

/** What an operation's reply is made of. */
export function readReply(reply: unknown): ReadReply {
  if (typeof reply !== "object" || reply === null || !(kind in reply))
    return { tag: undefined, held: false, value: reply };
  const special = reply as Tagged | NotModified | Streamed; // nothing else has the symbol, which is private to this file
  const { tag } = special;
  if (special[kind] === "streamed") return { tag, held: false, value: undefined, parts: special.parts };
  return special[kind] === "tagged"
    ? { tag, held: false, value: special.value }
    : { tag, held: true, value: undefined };
}
