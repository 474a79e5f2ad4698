import { joinFolder, splitFolder } from "../folder-path.ts";

/** A record's folder from a Bitwarden name, in which slashes nest. */
export function joinNested(name: string): string {
  return joinFolder(name.split("/"));
}

/** The Bitwarden name of a record's folder. A part that contains a slash becomes two. */
export function nestedName(folder: string): string {
  return splitFolder(folder).join("/");
}

/**
 * Why a record's folder changes when it is read back from its Bitwarden name; undefined when it
 * does not.
 */
export function whyNotAsFolder(folder: string): string | undefined {
  if (joinNested(nestedName(folder)) === folder) return undefined;
  return /%2f/i.test(folder) ? "a slash in its folder's name nests" : "its folder's name has an empty part or a bare %";
}
