import type { Permission } from "@coffer/contract";
import type { OpenFolder } from "../secrets/secret-store.ts";

export interface UsableFolder {
  id: string;
  name: string;
  permission: Permission | null;
  /** Undefined when the version of `key` is not known. */
  key_version: number | undefined;
  /**
   * Null when the key was not sealed to this caller, or does not open. Not enumerable, so that
   * printing or copying a folder does not print or copy its key.
   */
  readonly key: Uint8Array | null;
}

export function usableFolder({ id, name, permission, keyVersion, key }: OpenFolder): UsableFolder {
  const folder = { id, name, permission, key_version: keyVersion, key };
  return Object.defineProperty(folder, "key", { enumerable: false, writable: false });
}
