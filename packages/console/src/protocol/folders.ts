// Folders with their secrets, also side by side.

import type { Permission } from "./sharing.ts";

export interface FolderView {
  id: string;
  name: string;
  permission: Permission;
  /** Why its key is not used; null when it is. */
  problem: string | null;
}

/** A secret as a list shows it: the names of its fields, without values. */
export interface SecretView {
  uid: string;
  title: string;
  folderId: string;
  fields: string[];
  updatedAt: string;
  /** From this moment on machines do not get it; null for never. */
  expiresAt: string | null;
  expired: boolean;
}

export interface ReaderView {
  name: string;
  isMachine: boolean;
  /** It was among others in a list; otherwise it was read by itself. */
  inLists: boolean;
  count: number;
  lastAt: string;
  ip: string | null;
}

/** `isYours`: whether the person may read the audit. `since`: earlier reads are not among these. */
export type ReadersView = { isYours: true; readers: ReaderView[]; since: string } | { isYours: false };

export interface FoldersView {
  folders: FolderView[];
  secrets: SecretView[];
}

export interface MatrixView {
  /** The folders that the person can open. */
  folders: { id: string; name: string; mayChange: boolean }[];
  rows: MatrixRow[];
}

/** One field of the secrets of one title. */
export interface MatrixRow {
  title: string;
  field: string;
  /** From 1. Two secrets of a folder that have one title are in two rows. */
  copy: number;
  /** One for each folder, in the order of the folders; null where the folder has no such field. */
  cells: (MatrixCell | null)[];
}

export interface MatrixCell {
  uid: string;
  /** Equal numbers in a row are equal values. */
  value: number;
}

export interface FoldersCalls {
  folders(): FoldersView;
  createFolder(name: string): FoldersView;
  secretValue(input: { uid: string; field: string }): string;
  setSecret(input: { folderId: string; title: string; field: string; value: string }): FoldersView;
  /** Who has read it in the last 90 days. */
  secretReaders(input: { uid: string; folderId: string }): ReadersView;
  /** `expiresAt`: null for never. */
  setExpiry(input: { uid: string; expiresAt: string | null }): FoldersView;
  removeSecret(uid: string): FoldersView;
  matrix(): MatrixView;
  setCell(input: { folderId: string; title: string; field: string; value: string }): MatrixView;
  /** `uid`: the secret whose value is copied into the folder. */
  copyValue(input: { uid: string; title: string; field: string; folderId: string }): MatrixView;
  /** The variables of a dotenv file. `wrongLine`: nothing was set, because this line sets nothing. */
  pasteEnv(input: { folderId: string; text: string }): { view: MatrixView; count: number } | { wrongLine: number };
}
