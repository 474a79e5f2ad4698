import { joinFolder, splitFolder } from "../folder-path.ts";

/** A record's folder from a Bitwarden name, in which slashes nest. */
export function joinNested(name: string): string {
  return joinFolder(name.split("/"));
}

/** The Bitwarden name of a record's folder. One part with a slash of its own becomes two. */
export function nestedName(folder: string): string {
  return splitFolder(folder).join("/");
}
