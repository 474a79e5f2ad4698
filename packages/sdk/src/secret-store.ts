import { CofferError } from "./errors.ts";
import type { ApiAnswer, ApiRequest } from "./transport.ts";
import type { Permission, SecretView } from "./views.ts";

/** A folder with its key opened. */
export interface OpenFolder {
  id: string;
  name: string;
  permission: Permission | null;
  /** Undefined when it is not known which version `key` is. */
  keyVersion: number | undefined;
  /** Null when the key was not sealed to this caller, or does not open: then `keyError` says so. */
  key: Uint8Array | null;
  keyError?: CofferError | undefined;
  /** The newest entry of its history that is known; null where none is. */
  historySeq?: number | null | undefined;
  /** Whether its history was verified; then whether the caller has made or accepted it. Undefined: nothing of it is verified. */
  trusted?: boolean | undefined;
}

/** What differs between a machine and a person in reaching secrets; everything else is written once on top of it. */
export interface SecretStore {
  /** The caller's folders; with `fresh`, as the service knows them now. */
  folders(fresh: boolean): Promise<OpenFolder[]>;
  /** The folders as an earlier run of the program was answered, known from now on; undefined unless they `fit`. */
  keptFolders?(fit: (folders: OpenFolder[]) => boolean): Promise<OpenFolder[] | undefined>;
  /** Why the last fresh folders are not the service's answer, but one that was kept; undefined when they are. */
  foldersAway?(): CofferError | undefined;
  /** Asks the caller whether to accept an offered folder; the folder when that is so, then open. */
  accepted?(folder: OpenFolder): Promise<OpenFolder | undefined>;
  /** The paths whose lists together hold the secrets of these folders. */
  listPaths(folders: OpenFolder[]): string[];
  /** One secret by uid, wherever it is. Throws CofferError `secret_not_found`. */
  one(uid: string): Promise<SecretView>;
  /** Where secrets of the folder are made (POST), and below it read and changed. */
  pathIn(folderId: string): string;
  /** Secrets whose title contains `title`; undefined when the caller has no search and must look through the lists. */
  search(title: string): Promise<SecretView[]> | undefined;
  /** Whether the service's word is taken for the title of a secret that has no sealed one. */
  readonly unsealedTitles?: boolean | undefined;
  /** Sends a request as this caller. */
  send(request: ApiRequest): Promise<ApiAnswer>;
}

/**
 * The items of a `{data: […]}` answer: objects or texts. Throws CofferError `bad_answer` for any other: what a gateway says in
 * the service's place is no word that there is nothing.
 */
export function dataOf({ status, body }: ApiAnswer): unknown[] {
  const { data } = (body ?? {}) as { data?: unknown };
  if (Array.isArray(data) && data.every(isItem)) return data as unknown[];
  throw new CofferError("bad_answer", "the service answered something else than the list that it was asked for", {
    status,
  });
}

function isItem(value: unknown): boolean {
  return typeof value === "string" || (typeof value === "object" && value !== null);
}

/** Items that have a name. Throws CofferError `bad_answer` when one has none. */
export function namedItems<Item extends { name: string }>(items: readonly unknown[]): Item[] {
  const named = (item: unknown): boolean => typeof (item as { name?: unknown }).name === "string";
  if (items.every(named)) return items as Item[];
  throw new CofferError("bad_answer", "the service answered with something that has no name");
}
