import { ServiceError } from "@coffer/errors";

const none: readonly string[] = [];

/** The unquoted tags of an `If-None-Match` header, without `W/` (it compares weakly). */
export function heldTags(header: string | undefined): readonly string[] {
  if (header === undefined) return none;
  if (header.trim() === "*") return ["*"];
  return Array.from(header.matchAll(/"([\x21\x23-\x7e\x80-\xff]*)"/g), (found) => found[1] ?? "");
}

/**
 * The unquoted tag of an `If-Match` header; undefined without one and for `*`. A weak tag is
 * returned unchanged and matches nothing (`If-Match` compares strongly).
 * @throws ServiceError `invalid_request` for several tags
 */
export function expectedTag(header: string | undefined): string | undefined {
  const tag = header?.trim();
  if (tag === undefined || tag === "*") return undefined;
  const quoted = /^"([\x21\x23-\x7e\x80-\xff]*)"$/.exec(tag)?.[1];
  if (quoted !== undefined) return quoted;
  if (tag.includes(",") || tag === "")
    throw new ServiceError("invalid_request", "If-Match takes one entity tag, as in the ETag of the response");
  return tag;
}
