import type { Role } from "@coffer/contract";
import type { FolderRow } from "../store/folders/folders.ts";

/** A folder as its reader may see it: an auditor gets no key and no permission. */
export function folderView<Row extends FolderRow>(folder: Row, role: Role): Row {
  if (role !== "auditor") return folder;
  return { ...folder, permission: null, encrypted_key: null, encrypted_key_alg: null };
}
