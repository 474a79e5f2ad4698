import { joinFolder, splitFolder } from "../folder-path.ts";

/** A record's folder from a Bitwarden name, in which slashes nest. */
export function joinNested(name: string): string {
  return joinFolder(name.split("/"));
}

/** The Bitwarden name of a record's folder. One part with a slash of its own becomes two. */
export function nestedName(folder: string): string {
  return splitFolder(folder).join("/");
}

/** Why a record's folder is another one when it is read from its Bitwarden name; undefined when it is not. */
export function whyNotAsFolder(folder: string): string | undefined {
  if (joinNested(nestedName(folder)) === folder) return undefined;
  return /%2f/i.test(folder) ? "a slash in its folder's name nests" : "its folder's name has an empty part or a bare %";
}
