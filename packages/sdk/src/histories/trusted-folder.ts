import { holderOf } from "@coffer/history";
import { CofferError } from "../errors.ts";
import { openFolderKey } from "../folder-key.ts";
import type { Unsealing } from "../folder-key.ts";
import type { OpenFolder } from "../secret-store.ts";
import type { FolderView } from "../views.ts";
import type { Verified } from "./histories.ts";
import type { Self } from "./self.ts";
import { stillTrusted, trustedKey } from "./trusted-key.ts";
import type { KeyTrust } from "./trusted-key.ts";

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
  if (keyError === undefined) return { ...folder, key };
  // The numbers of the view, so that only a changed view triggers another query.
  return { ...folder, keyVersion: key_version, historySeq: history_seq, key: null, keyError };
}

/**
 * Whether the keys of folders that were opened before may still be used. Also stores in each folder
 * what was checked.
 */
export async function areStillTrusted(
  folders: readonly OpenFolder[],
  trust: Parameters<typeof stillTrusted>[0],
): Promise<boolean> {
  for (const folder of folders) {
    const { key, verified } = folder;
    if (key === null) continue;
    folder.verified = verified === undefined ? undefined : await stillTrusted(trust, verified, key);
    if (folder.verified === undefined) return false;
  }
  return true;
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
