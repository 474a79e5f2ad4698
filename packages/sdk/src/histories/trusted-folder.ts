import { keyCheck } from "@coffer/crypto";
import { holderOf } from "@coffer/history";
import type { HistoryState } from "@coffer/history";
import { CofferError } from "../errors.ts";
import type { CofferErrorCode } from "../errors.ts";
import { openFolderKey } from "../folder-key.ts";
import type { Unsealing } from "../folder-key.ts";
import type { OpenFolder } from "../secret-store.ts";
import type { FolderView } from "../views.ts";
import type { Histories, Verified } from "./histories.ts";
import type { Self } from "./self.ts";

/** Whose keys open folders, and what the caller trusts. */
export interface FolderTrust {
  histories: Histories;
  self: Self;
  unsealing: Unsealing;
  /** The names of those who manage a folder, for a message. */
  managers(state: HistoryState): Promise<string[]>;
}

/** What is wrong with one folder alone; every other error is thrown. */
const troubles: ReadonlySet<CofferErrorCode> = new Set([
  "history_invalid",
  "signer_removed",
  "history_rolled_back",
  "history_forked",
  "key_mismatch",
  "key_rolled_back",
  "holder_unconfirmed",
  "key_pending",
  "no_history",
  "not_accepted",
  "no_key",
  "not_decrypted",
  "bad_answer",
  "keyring_missing",
  "keyring_rolled_back",
]);

/**
 * The one place that decides whether a folder's key may be used. The service's view of the folder is a hint: name, permission,
 * version and key are what the history says. A key that may not be used is that folder's trouble alone: `keyError` is thrown
 * where the key is needed.
 */
export async function trustedFolder(view: FolderView, trust: FolderTrust): Promise<OpenFolder> {
  let trusted: Verified | undefined;
  try {
    if (view.permission === null) throw new CofferError("no_key", `the folder ${view.name} was not shared with you`);
    trusted = await trust.histories.at(`folder:${view.id}`, view.history_seq);
    requireOpen(trusted, view, trust.self);
    // The view may be from just before a rotation, or the history was read just before it.
    if (trusted.state.ver !== view.key_version) trusted = await trust.histories.newest(`folder:${view.id}`);
    const key = await openChecked(trusted, view, trust);
    return { ...shown(view, trusted, trust.self), key };
  } catch (error) {
    if (!(error instanceof CofferError) || !troubles.has(error.code)) throw error;
    // The numbers are the view's: only another view is a reason to ask again.
    const { key_version: keyVersion, history_seq: historySeq } = view;
    return { ...shown(view, trusted, trust.self), keyVersion, historySeq, key: null, keyError: error };
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
  };
}

/** Throws CofferError unless the history names the caller, who has accepted the folder. */
function requireOpen({ state, accepted }: Verified, view: FolderView, self: Self): void {
  const { name } = state;
  if (!accepted)
    throw new CofferError(
      "not_accepted",
      `the folder ${name} was neither made nor accepted by you: \`coffer folder accept ${view.id}\` shows who gave it`,
    );
  if (holderOf(state, self.who)?.key !== self.publicKey)
    throw new CofferError(
      "holder_unconfirmed",
      `the history of the folder ${name} does not name you with your key: a manager of it compares words with you`,
    );
}

async function openChecked({ state }: Verified, view: FolderView, trust: FolderTrust): Promise<Uint8Array> {
  const { name, ver, check } = state;
  if (ver === null || check === null) throw new CofferError("bad_answer", `the history of ${name} names no key`);
  if (ver !== view.key_version)
    throw new CofferError(
      "key_rolled_back",
      `the newest key of the folder ${name} is version ${ver}, and the service shows version ${view.key_version}: ` +
        "try again, and tell the operator if it stays",
    );
  const key = await openFolderKey(view, trust.unsealing);
  if (key === null) throw keyPending(name, await trust.managers(state));
  if ((await keyCheck(key, state.res, ver)) === check) return key;
  throw new CofferError(
    "key_mismatch",
    `the service hands out another key for the folder ${name} than the one its managers made: it is not used`,
  );
}

export function keyPending(name: string, managers: readonly string[]): CofferError {
  const who = managers.length === 0 ? "a manager" : managers.join(" or ");
  return new CofferError(
    "key_pending",
    `the key of ${name} is not sealed to you yet: ${who} seals it by opening ${name} once`,
  );
}
