import { box, contexts, decodeBase64, decodeText, encodeText, unboxBound } from "@coffer/crypto";
import type { Resource } from "@coffer/history";
import { CofferError } from "../errors.ts";
import type { Histories } from "../histories/histories.ts";
import { isSameList, type Left } from "../histories/left.ts";
import { requireRequested } from "../http/require-requested.ts";
import type { ApiAnswer, ApiRequest } from "../http/transport.ts";
import type { PersonSession } from "../people/person-session.ts";
import { vaultPath } from "../vaults/vault-path.ts";
import type { VaultView } from "../vaults/views.ts";
import { changing } from "./held-trust.ts";
import { type HiddenPin, hiddenPin, withHiddenPins } from "./hidden-pins.ts";
import { type PinText, pinOfText, textOfPin } from "./keyring.ts";
import { areAsCompared, requireContained, withPins } from "./merge-pins.ts";
import { changedIn, newestPin, type SharedPin, type Trusted, type TrustRecord } from "./trust-storage.ts";

/**
 * Synchronizes the pins of vaults between a person's devices: one sealed pin per vault, stored with
 * it on the service, so that travel mode hides both.
 */
export interface VaultPins {
  /**
   * Merges the other devices' pin from a vault's view. Throws CofferError `keyring_missing`,
   * `keyring_rolled_back`, `history_forked`.
   */
  take(view: VaultView): Promise<void>;
  /** Stores the pin of a vault that was hidden again; nothing for any other. */
  recall(id: string): Promise<void>;
  /** Publishes this device's pins of the vaults that it has seen, if they are newer. */
  save(): Promise<void>;
  /**
   * Overwrites the service's pin, whatever it is, because the person trusts the history as it is
   * shown now.
   */
  overwrite(view: VaultView): Promise<void>;
  /**
   * Deletes what this device trusts of all vaults but these, because travel mode must leave no
   * trace of hidden ones. If one is shown again, older states of it are still refused: the service
   * could hide a vault from someone who does not travel.
   */
  forgetAllBut(vaultIds: readonly string[]): Promise<void>;
}

export interface VaultPinsOptions {
  send(request: ApiRequest): Promise<ApiAnswer>;
  session(): Promise<PersonSession>;
  histories: Histories;
  /** Receives the error when a pin could not be published. */
  onTrouble?: ((error: CofferError) => void) | undefined;
}

interface SealedPin {
  version: number;
  sealed: string;
}

interface OpenedPin {
  pin: SharedPin;
  accepted: boolean;
  left: readonly Left[];
}

interface PinPlaintext {
  pin: PinText;
  accepted: boolean;
  left?: readonly Left[];
}

/** How often a device retries to write the next version of a pin. */
const rounds = 6;

const resOf = (id: string): `vault:${string}` => `vault:${id}`;

export function vaultPins({ send, session, histories, onTrouble }: VaultPinsOptions): VaultPins {
  /** Vaults that the service has shown since the start: no other pins are written. */
  const seen = new Set<string>();
  let saving: Promise<void> = Promise.resolve();

  const change = (res: Resource, apply: (before: Trusted) => Trusted): Promise<unknown> =>
    histories.changeRecord((record) => changedIn(record, res, apply));

  const viewNow = async (id: string): Promise<VaultView> =>
    requireRequested<VaultView>(await send({ method: "GET", path: vaultPath(id) }), { id });

  const userKey = async (): Promise<Uint8Array> => decodeBase64((await session()).user_key);

  /** This device's pin of a vault that was hidden; undefined when it knows the vault, or never did. */
  const recalled = async (id: string): Promise<Trusted | undefined> => {
    if (Object.hasOwn((await histories.record()).resources, resOf(id))) return undefined;
    const { resources, hidden = [] } = await histories.stored();
    if (hidden.length === 0 || Object.hasOwn(resources, resOf(id))) return undefined;
    const kept = await hiddenPin(await userKey(), hidden, id);
    histories.searched(resOf(id), hidden);
    if (kept === undefined) return undefined;
    const { version, ended, ...known } = kept;
    return { ...known, state: null, pin_version: version, ended: ended && [...ended] };
  };

  /** Returns false when another process has changed the record meanwhile. */
  const tryToForget = async (isForgotten: (res: string) => boolean): Promise<boolean> => {
    // Another process may have verified more, or forgotten other vaults.
    const { resources, hidden = [] } = await histories.stored();
    const forgotten = Object.entries(resources).filter(([res]) => isForgotten(res));
    const pins = new Map(forgotten.map(([res, trusted]) => [res.slice("vault:".length), keptOf(trusted)]));
    const boxes = await withHiddenPins(await userKey(), hidden, pins);
    const used = JSON.stringify([hidden, resources]);
    let isUnchanged = false;
    await histories.changeRecord((before) => {
      isUnchanged = JSON.stringify([before.hidden ?? [], before.resources]) === used;
      const kept = Object.entries(before.resources).filter(([res]) => !isForgotten(res));
      return isUnchanged ? { ...before, hidden: boxes, resources: Object.fromEntries(kept) } : before;
    });
    return isUnchanged;
  };

  const forgetAllBut = async (vaultIds: readonly string[]): Promise<void> => {
    const isForgotten = (res: string): boolean => res.startsWith("vault:") && !vaultIds.includes(res.slice(6));
    while (!(await tryToForget(isForgotten)));
  };

  const take = (view: VaultView): Promise<void> => {
    seen.add(view.id);
    return again(() => takeOnce(view));
  };

  const takeOnce = async (view: VaultView): Promise<void> => {
    const res = resOf(view.id);
    const kept = await recalled(view.id);
    const withKept = (resources: TrustRecord["resources"]): TrustRecord["resources"] =>
      kept === undefined ? resources : { [res]: kept, ...resources };
    const store = (change: (before: TrustRecord["resources"]) => TrustRecord["resources"]): Promise<TrustRecord> =>
      histories.changeRecord((present) => ({ ...present, resources: change(withKept(present.resources)) }));
    const record = await histories.record();
    const resources = withKept(record.resources);
    const here = resources[res];
    const known = here?.pin_version ?? 0;
    let shown = shownPin(view);
    // The view may be from just before this device wrote its pin.
    if (versionOf(shown) < known) shown = shownPin(await viewNow(view.id));
    if (versionOf(shown) < known) throw pinRolledBack(view, shown?.version, known);
    if (kept === undefined && versionOf(shown) === known) return;
    const opened = shown === undefined ? undefined : await openPin(await session(), view.id, shown);
    if (opened === undefined || shown === undefined) {
      // A device with a pin of its own continues with that. Of a vault that was hidden it keeps nothing about former
      // members: that is in the pin that does not open.
      if (here === undefined || (kept !== undefined && shown !== undefined)) throw pinMissing(view);
      if (kept !== undefined) await store((present) => present);
      if (shown !== undefined) onTrouble?.(pinMissing(view));
      return;
    }
    const { version } = shown;
    const { pin, accepted, left } = opened;
    const shared = { pins: { [res]: pin }, accepted: accepted ? [res] : [], left: { [res]: left } };
    await requireContained(histories, { ...record, resources }, shared);
    const after = await store((present) => {
      if (!areAsCompared(resources, present, shared)) return present;
      const all = withPins(present, shared);
      const merged = all[res] as Trusted; // it is among the pins
      return { ...all, [res]: { ...merged, pin_version: version, told: { seq: pin.seq, accepted, left } } };
    });
    if (after.resources[res]?.pin_version !== version) throw changing(res);
  };

  /**
   * Reads a written pin back. A version that the service has acknowledged and does not have would lock this device out
   * of the vault. Takes what the service shows instead.
   */
  const isStored = async (id: string, sealed: string): Promise<boolean> => {
    const view = await viewNow(id);
    if (shownPin(view)?.sealed === sealed) return true;
    await take(view);
    return false;
  };

  const write = async (id: string): Promise<void> => {
    const res = resOf(id);
    for (let round = 0; round < rounds; round += 1) {
      const here = (await histories.record()).resources[res];
      if (here === undefined || !isUnpublished(here)) return;
      const version = (here.pin_version ?? 0) + 1;
      const { accepted, left = [] } = here;
      const pin = newestPin(here);
      try {
        const sealed = await sealPin(await session(), id, version, { pin, accepted, left });
        await send({ method: "PUT", path: `${vaultPath(id)}/pin`, body: { version, sealed } });
        if (!(await isStored(id, sealed))) continue;
      } catch (error) {
        if (!(error instanceof CofferError) || error.code !== "precondition_failed") throw error;
        await take(await viewNow(id));
        continue;
      }
      await change(res, (before) => ({ ...before, pin_version: version, told: { seq: pin.seq, accepted, left } }));
    }
  };

  const writeAll = async (): Promise<void> => {
    for (const id of [...seen])
      await write(id).catch((error: unknown) => {
        if (!(error instanceof CofferError)) throw error;
        const isGone = error.status === 404 || error.status === 403;
        if (isGone && !error.foreign) seen.delete(id);
        else onTrouble?.(error);
      });
  };

  const recall = (id: string): Promise<void> =>
    again(async () => {
      const kept = await recalled(id);
      if (kept === undefined) return;
      const res = resOf(id);
      await histories.changeRecord((present) => ({ ...present, resources: { [res]: kept, ...present.resources } }));
    });

  return {
    take,
    recall,
    forgetAllBut,
    save() {
      saving = saving.catch(() => undefined).then(writeAll);
      return saving;
    },
    async overwrite(view) {
      seen.add(view.id);
      const version = shownPin(view)?.version;
      await change(resOf(view.id), (before) => ({ ...before, pin_version: version, told: undefined }));
    },
  };
}

/** Repeats what another process's forgetting of vaults has prevented. */
async function again(work: () => Promise<void>): Promise<void> {
  for (let round = 1; ; round += 1) {
    try {
      await work();
      return;
    } catch (error) {
      if (round === rounds || !(error instanceof CofferError) || error.code !== "conflict") throw error;
    }
  }
}

/** What a device keeps of a vault that it forgets. */
function keptOf({
  pin,
  expect,
  accepted,
  removed,
  state,
  known_as = state?.name,
  ended,
  left,
  checked_at,
  pin_version,
}: Trusted): HiddenPin {
  return { pin, expect, accepted, removed, version: pin_version ?? 0, known_as, ended, left, checked_at };
}

/**
 * Whether this device has verified more of a vault's history than its `sealed_pin` contains, knows
 * more of former members, or the person has accepted it since.
 */
function isUnpublished({ pin, accepted, left, told }: Trusted): boolean {
  if (told === undefined || told.seq < pin.seq || (accepted && !told.accepted)) return true;
  return !isSameList(left, told.left);
}

/** Throws CofferError `bad_answer` for a malformed pin. */
function shownPin({ sealed_pin: shown, name }: VaultView): SealedPin | undefined {
  if (shown === null || shown === undefined) return undefined;
  const { version, sealed } = shown as Partial<SealedPin>; // looked at below
  if (typeof sealed === "string" && version !== undefined && Number.isSafeInteger(version)) return { version, sealed };
  throw new CofferError("bad_answer", `the service's answer has no pin of the vault ${name} that could be read`);
}

function versionOf(pin: SealedPin | undefined): number {
  return pin?.version ?? 0;
}

async function sealPin(
  { user_key }: PersonSession,
  id: string,
  version: number,
  { pin, accepted, left }: OpenedPin,
): Promise<string> {
  const plaintext: PinPlaintext = { pin: textOfPin(pin), accepted };
  if (left.length > 0) plaintext.left = left;
  return box(decodeBase64(user_key), encodeText(JSON.stringify(plaintext)), contexts.vaultPin(id, version));
}

/** Undefined when it does not open. */
async function openPin(
  { user_key }: PersonSession,
  id: string,
  { version, sealed }: SealedPin,
): Promise<OpenedPin | undefined> {
  try {
    const opened = await unboxBound(decodeBase64(user_key), sealed, contexts.vaultPin(id, version));
    const { pin, accepted, left = [] } = JSON.parse(decodeText(opened)) as PinPlaintext; // this person sealed it
    return { pin: pinOfText(pin), accepted, left };
  } catch {
    return undefined;
  }
}

function pinMissing({ id, name }: VaultView): CofferError {
  return new CofferError(
    "keyring_missing",
    `what your devices trust of the vault ${name} does not open: \`coffer vault trust ${id}\` shows what would be trusted`,
  );
}

function pinRolledBack({ id, name }: VaultView, shown: number | undefined, known: number): CofferError {
  const what = shown === undefined ? "nothing" : `version ${shown}`;
  return new CofferError(
    "keyring_rolled_back",
    `the service shows ${what} of what your devices trust of the vault ${name}, and this device has seen version ${known}: ` +
      `\`coffer vault trust ${id}\` shows what would be trusted`,
  );
}
