import type { Permission } from "@coffer/contract";
import type { CofferError } from "../errors.ts";
import type { Histories, Verified } from "../histories/histories.ts";
import type { ApiAnswer, ApiRequest } from "../http/transport.ts";
import type { SecretView } from "../views.ts";

/** A folder with its key opened. */
export interface OpenFolder {
  id: string;
  name: string;
  permission: Permission | null;
  /** Undefined when the version of `key` is not known. */
  keyVersion: number | undefined;
  /**
   * Null when the key was not sealed to this caller, or does not open; then `keyError` has the
   * reason.
   */
  key: Uint8Array | null;
  keyError?: CofferError | undefined;
  /** The newest known entry of its history; null without one. */
  historySeq?: number | null | undefined;
  /** Whether the caller has made or accepted it. Undefined when nothing of it is verified. */
  trusted?: boolean | undefined;
  /** The history that says so. Later entries can end the use of the key. */
  verified?: Verified | undefined;
  /** Whether the key may still be used. It is checked each time before that. */
  isStillTrusted?: (() => Promise<boolean>) | undefined;
}

/** The user of the SDK: a person or a machine. */
export type Caller = "person" | "machine";

/**
 * The access to secrets that differs between a machine and a person. Everything else is shared
 * code.
 */
export interface SecretStore {
  readonly caller: Caller;
  /** The histories that the caller trusts. */
  readonly histories: Histories;
  /**
   * The caller's folders; `fresh` queries the service. Otherwise the service is queried when a key
   * that was opened before may not be used any more.
   */
  folders(fresh: boolean): Promise<OpenFolder[]>;
  /** The folders from the stored response of an earlier run, if they `fit`; otherwise undefined. */
  storedFolders?(fit: (folders: OpenFolder[]) => boolean): Promise<OpenFolder[] | undefined>;
  /**
   * The error of the service if the last fresh folders are a stored response; otherwise undefined.
   */
  foldersAway?(): CofferError | undefined;
  /**
   * Asks the caller whether to accept an offered folder. Returns the opened folder when accepted.
   */
  accepted?(folder: OpenFolder): Promise<OpenFolder | undefined>;
  /** The paths whose lists together contain the secrets of these folders. */
  listPaths(folders: OpenFolder[]): string[];
  /** One secret by uid, wherever it is. Throws CofferError `secret_not_found`. */
  one(uid: string): Promise<SecretView>;
  /** The path under which the folder's secrets are created, read and changed. */
  pathIn(folderId: string): string;
  /**
   * Secrets whose title contains `title`; undefined when this caller has no search and must filter
   * the lists.
   */
  search(title: string): Promise<SecretView[]> | undefined;
  /** Whether the service's title is accepted for a secret without a sealed one. */
  readonly unsealedTitles?: boolean | undefined;
  send(request: ApiRequest): Promise<ApiAnswer>;
}
