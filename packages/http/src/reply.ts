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

/** What an operation's reply is made of: its tag if it has one, whether the caller holds it already, the value. */
export function readReply(reply: unknown): { tag: string | undefined; held: boolean; value: unknown } {
  if (typeof reply !== "object" || reply === null || !(kind in reply))
    return { tag: undefined, held: false, value: reply };
  const special = reply as Tagged | NotModified; // nothing else has the symbol, which is private to this file
  return special[kind] === "tagged"
    ? { tag: special.tag, held: false, value: special.value }
    : { tag: special.tag, held: true, value: undefined };
}
