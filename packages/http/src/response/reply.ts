const kind: unique symbol = Symbol("reply");

/** A response with an entity tag, for requests with `If-None-Match`. */
export interface Tagged {
  readonly [kind]: "tagged";
  readonly tag: string;
  readonly value: unknown;
}

/** The caller has the present version: 304 without a body. */
export interface NotModified {
  readonly [kind]: "not_modified";
  readonly tag: string;
}

/**
 * The response `value` with `ETag: "tag"`. `tag` has only the characters of an unquoted entity tag.
 */
export function tagged(tag: string, value: unknown): Tagged {
  return { [kind]: "tagged", tag, value };
}

/** 304 with `ETag: "tag"`, for a caller whose `held` tags include it. */
export function notModified(tag: string): NotModified {
  return { [kind]: "not_modified", tag };
}

/** A streamed response. */
export interface Streamed {
  readonly [kind]: "streamed";
  readonly tag: string | undefined;
  readonly parts: AsyncIterable<string>;
}

/**
 * Streams `parts`, the JSON text of the response, with backpressure, and `ETag: "tag"` if it has
 * one. An error before the first part gets an ordinary response; a later one cuts the connection,
 * so that the client detects the incomplete response. Both are audited and logged. Stops when the
 * caller disconnects.
 */
export function streamed(tag: string | undefined, parts: AsyncIterable<string>): Streamed {
  return { [kind]: "streamed", tag, parts };
}

interface ReadReply {
  tag: string | undefined;
  /** The caller has this version. */
  held: boolean;
  value: unknown;
  parts?: AsyncIterable<string>;
}

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
