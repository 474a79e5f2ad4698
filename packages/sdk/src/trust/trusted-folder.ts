import { holderOf } from "@coffer/history";
import { CofferError } from "../errors.ts";
import { openFolderKey, type Unsealing } from "../folders/folder-key.ts";
import type { Verified } from "../histories/histories.ts";
import type { Self } from "../histories/self.ts";
import type { OpenFolder } from "../secrets/secret-store.ts";
import type { FolderView } from "../views.ts";
import { isStillTrusted, keyChanged, type KeyTrust, type TrustAgain, trustedKey } from "./trusted-key.ts";

/** The keys that open folders, and the rules for their use. */
export interface FolderTrust extends KeyTrust {
  unsealing: Unsealing;
  /** The organization whose folders were requested, by its id. Undefined without a choice. */
  organization?: string | undefined;
}

/**
 * A folder with the name, permission, version and key of its history, as far as the key may be
 * used.
 */
export async function trustedFolder(view: FolderView, trust: FolderTrust): Promise<OpenFolder> {
  const { key_version, history_seq } = view;
  const { trusted, key, keyError } = await trustedKey(
    {
      ...{ res: `folder:${view.id}`, key_version, history_seq },
      before: () =>
        view.permission === null
          ? Promise.reject(new CofferError("no_key", `the folder ${view.name} was not shared with you`))
          : Promise.resolve(),
      open: () => openFolderKey(view, trust.unsealing),
    },
    trust,
  );
  // Managers of another organization have no say here, not even about who shared the folder.
  const elsewhere =
    trusted !== undefined && trust.organization !== undefined && trusted.state.org !== trust.organization;
  if (elsewhere) return { ...shown(view, undefined, trust.self), key: null, keyError: ofAnother(view) };
  const folder = shown(view, trusted, trust.self);
  if (keyError === undefined)
    return checkedAgain({ ...folder, key }, { ...trust, self: () => Promise.resolve(trust.self) });
  // The numbers of the view, so that only a changed view triggers another query.
  return { ...folder, keyVersion: key_version, historySeq: history_seq, key: null, keyError };
}

/** A folder whose key is checked each time before it is used. */
export function checkedAgain(folder: OpenFolder, trust: TrustAgain): OpenFolder {
  folder.isStillTrusted = () => isStillTrusted(trust, folder);
  return folder;
}

/** Whether the keys of folders that were opened before may still be used. */
export async function areStillTrusted(folders: readonly OpenFolder[]): Promise<boolean> {
  for (const folder of folders) if (folder.key !== null && (await folder.isStillTrusted?.()) !== true) return false;
  return true;
}

/** How often folders are opened again because a rotation was seen meanwhile. */
const rounds = 3;

/**
 * Opens folders, and again when entries that were seen meanwhile end the use of a key: the service
 * can delay an answer until another call has seen a rotation. A key that may not be used after that
 * is left out.
 */
export async function openedLast(open: () => Promise<OpenFolder[]>): Promise<OpenFolder[]> {
  for (let round = 1; ; round += 1) {
    const folders = await open();
    if (await areStillTrusted(folders)) return folders;
    if (round < rounds) continue;
    const left = folders.map(async (folder): Promise<OpenFolder> => {
      if (await areStillTrusted([folder])) return folder;
      const { name } = folder;
      const keyError = keyChanged(name);
      return { ...folder, key: null, keyError, isStillTrusted: undefined };
    });
    return Promise.all(left);
  }
}

function shown(view: FolderView, trusted: Verified | undefined, { who }: Self): OpenFolder {
  const { id, name, permission, history_seq: historySeq = null } = view;
  if (trusted === undefined) return { id, name, permission, keyVersion: view.key_version, key: null, historySeq };
  const { state, accepted } = trusted;
  return {
    id,
    name: state.name,
    permission: holderOf(state, who)?.perm ?? null,
    keyVersion: state.ver ?? undefined,
    key: null,
    historySeq: state.head.seq,
    trusted: accepted,
    verified: trusted,
  };
}

function ofAnother({ id, name }: FolderView): CofferError {
  return new CofferError("bad_answer", `the service shows the folder ${name} (${id}), which is another organization's`);
}
