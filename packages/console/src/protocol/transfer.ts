// Records that are imported from another program or exported for one.

import type { ExportFormat } from "@coffer/import/formats";

/** A part of a file that becomes no record. */
export interface NotImported {
  /** The name of the item; null when it is about the whole file. */
  item: string | null;
  reason: string;
}

/** A file of another password manager, before it is imported. No value is among it. */
export interface ImportView {
  /** For `importFile`. */
  plan: string;
  format: string;
  /** Records that would be imported. */
  count: number;
  /** Records that the vault has from an earlier import. */
  present: number;
  /** The first of those that would be imported. */
  names: { type: string; name: string }[];
  leftOut: NotImported[];
  notes: string[];
}

export interface Imported {
  imported: number;
  failed: NotImported[];
  /** Records of the file that are still to import. */
  left: number;
}

/** A vault in the format of another program. */
export interface ExportedVault {
  /** It holds every secret in the clear. */
  file: Blob;
  /** Records in the vault that could be read. */
  count: number;
  /** Records that the service counts beside them. */
  missing: number;
  /** What the format cannot hold. */
  leftOut: NotImported[];
  notes: string[];
}

export interface TransferCalls {
  /** Reads a file in the worker. Fails with `import_…` and the code of an ImportError. */
  readFile(input: { file: File; vaultId: string }): ImportView;
  /**
   * Imports the next records of the file of `readFile`, so that the page can show how far it is. Fails with
   * `import_replaced` if a page has read another file since.
   */
  importFile(plan: string): Imported;
  /** All records of a vault. Fails with `wrong_password`, and counts as `unlock` does. */
  exportVault(input: { vaultId: string; format: ExportFormat; password: string }): ExportedVault;
}
