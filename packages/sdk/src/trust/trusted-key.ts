import { keyCheck } from "@coffer/crypto";
import { type HistoryState, holderOf, kindOf, type Resource } from "@coffer/history";
import { CofferError, type CofferErrorCode } from "../errors.ts";
import type { Histories, Verified } from "../histories/histories.ts";
import type { Self } from "../histories/self.ts";
import { removedByYou } from "./removed.ts";

/** The caller, and the histories that decide about keys. */
export interface KeyTrust {
  histories: Histories;
  self: Self;
  /** The names of the managers of a folder or vault, for a message. */
  managers(state: HistoryState): Promise<string[]>;
}

/** The unverified key data of a folder or vault from the service. */
export interface ShownKey {
  res: Resource;
  key_version: number;
  history_seq: number | null | undefined;
  /** Runs before the history is read. Throws CofferError when nothing may be used. */
  before(): Promise<void>;
  /** Opens the sealed key; null when none was sealed. */
  open(): Promise<Uint8Array | null>;
}

/** A folder or vault with the state of its history. */
export interface TrustedKey {
  /** The verified history; undefined when it was not verified. */
  trusted: Verified | undefined;
  /** Null when it may not be used. `keyError` has the reason. */
  key: Uint8Array | null;
  keyError?: CofferError | undefined;
}

/** The errors of a single folder or vault. Every other error is thrown. */
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
  // The caller lost access after the service listed it.
  "not_found",
  "access_denied",
]);

/**
 * The only place that decides whether the key of a folder or vault may be used. The service's data
 * is a hint: the history determines the key. An unusable key concerns only its folder or vault:
 * `keyError` is thrown where the key is needed.
 */
export async function trustedKey(shown: ShownKey, trust: KeyTrust): Promise<TrustedKey> {
  const { res } = shown;
  let trusted: Verified | undefined;
  try {
    await shown.before();
    trusted = await trust.histories.at(res, shown.history_seq);
    requireOpen(trusted, trust.self);
    // A concurrent rotation may have made the view or the history outdated.
    if (trusted.state.ver !== shown.key_version) trusted = await trust.histories.newest(res);
    return { trusted, key: await openChecked(trusted, shown, trust) };
  } catch (error) {
    if (!(error instanceof CofferError) || !troubles.has(error.code)) throw error;
    return { trusted, key: null, keyError: error };
  }
}

/** A folder or vault whose key was opened. */
export interface OpenedKey {
  /** Null when it may not be used. */
  key: Uint8Array | null;
  /** The history when the key was last checked. */
  verified?: Verified | undefined;
  /**
   * Whether the key may still be used, by what was learned since. Undefined where no history
   * decides.
   */
  isStillTrusted?: (() => Promise<boolean>) | undefined;
}

/** The histories, and the caller, that decide about a key again. */
export type TrustAgain = Pick<KeyTrust, "histories"> & { self(): Promise<Self> };

/**
 * Decides the same for a key that was opened before, each time before it is used: nothing that was
 * learned since says otherwise. Makes a request only if another device has verified later entries.
 * Stores in `opened` what was checked.
 */
export async function isStillTrusted(trust: TrustAgain, opened: OpenedKey): Promise<boolean> {
  const { key, verified } = opened;
  if (key === null) return true;
  opened.verified = verified === undefined ? undefined : await stillTrusted(trust, verified, key);
  return opened.verified !== undefined;
}

/**
 * Throws CofferError `conflict` when a key was opened, and entries that were seen since end its use.
 * The service can delay an answer while another call sees a rotation.
 */
export async function requireStillTrusted(opened: OpenedKey, name: string): Promise<void> {
  if (opened.isStillTrusted === undefined || (await opened.isStillTrusted())) return;
  throw keyChanged(name);
}

export function keyChanged(name: string): CofferError {
  return new CofferError("conflict", `the key of ${name} was changed at the same time: try again`);
}

/** The history that was checked now; undefined when the key may not be used any more. */
async function stillTrusted(
  { histories, self }: TrustAgain,
  verified: Verified,
  key: Uint8Array,
): Promise<Verified | undefined> {
  if (await histories.isUnchanged(verified)) return verified;
  const { res } = verified.state;
  try {
    const now = await histories.at(res, (await histories.known(res))?.pin.seq);
    requireOpen(now, await self());
    const { ver, check } = now.state;
    return ver !== null && (await keyCheck(key, res, ver)) === check ? now : undefined;
  } catch (error) {
    if (!(error instanceof CofferError) || !troubles.has(error.code)) throw error;
    return undefined;
  }
}

/**
 * Throws CofferError unless the history names the caller, and the caller has accepted the folder or
 * vault.
 */
function requireOpen({ state, accepted, removed, given }: Verified, self: Self): void {
  const { name } = state;
  const [kind, id = ""] = state.res.split(":");
  const isOwn = given?.by === self.who && given.key === self.publicKey;
  if (removed === true) throw removedByYou(state);
  if (!accepted && kind === "vault" && isOwn)
    throw new CofferError(
      "keyring_missing",
      `the vault ${name} is yours, and the service shows nothing of what your devices trust of it: ` +
        `\`coffer vault trust ${id}\` shows what would be trusted`,
    );
  if (!accepted && self.who.startsWith("client:"))
    throw new CofferError(
      "not_accepted",
      `nobody who manages a folder of this machine has given it the folder ${name}: a manager gives it, or ` +
        `\`coffer folder trust ${id} --config <file>\` accepts it after words were compared`,
    );
  if (!accepted)
    throw new CofferError(
      "not_accepted",
      `the ${kind} ${name} was neither made nor accepted by you: \`coffer ${kind} accept ${id}\` shows who gave it`,
    );
  if (holderOf(state, self.who)?.key !== self.publicKey)
    throw new CofferError(
      "holder_unconfirmed",
      `the history of the ${kind} ${name} does not name you with your key: a manager of it compares words with you`,
    );
}

async function openChecked({ state }: Verified, shown: ShownKey, trust: KeyTrust): Promise<Uint8Array> {
  const { name, ver, check } = state;
  const kind = kindOf(state.res);
  if (ver === null || check === null) throw new CofferError("bad_answer", `the history of ${name} names no key`);
  if (ver !== shown.key_version)
    throw new CofferError(
      "key_rolled_back",
      `the newest key of the ${kind} ${name} is version ${ver}, and the service shows version ${shown.key_version}: ` +
        "try again, and inform the operator if it persists",
    );
  const key = await shown.open();
  if (key === null) throw keyPending(name, await trust.managers(state));
  if ((await keyCheck(key, state.res, ver)) === check) return key;
  throw new CofferError(
    "key_mismatch",
    `the service hands out another key for the ${kind} ${name} than the one its managers made: it is not used`,
  );
}

function keyPending(name: string, managers: readonly string[]): CofferError {
  const who = managers.length === 0 ? "a manager" : managers.join(" or ");
  return new CofferError(
    "key_pending",
    `the key of ${name} is not sealed to you yet: ${who} seals it by opening ${name} once`,
  );
}
