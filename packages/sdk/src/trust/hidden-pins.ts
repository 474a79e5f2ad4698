import { box, contexts, decodeText, encodeText, hiddenPinKey, newKey, unboxBound } from "@coffer/crypto";
import type { Head, HolderId } from "@coffer/history";
import type { Left } from "../histories/left.ts";
import type { SharedPin } from "./trust-storage.ts";

/** The stored pin of a vault that the device has forgotten. */
export interface HiddenPin {
  pin: Head;
  /** Later entries that other devices have verified, as far as they fit. */
  expect?: readonly SharedPin[] | undefined;
  accepted: boolean;
  /** The person has removed the vault. */
  removed?: true | undefined;
  /** The version of the vault's `sealed_pin` that the device saw last. */
  version: number;
  /** The name under which the person has accepted it: others can rename it meanwhile. */
  known_as?: string | undefined;
  /** The members whose access the caller has ended, as far as they fit. */
  ended?: readonly HolderId[] | undefined;
  /** The number of an entry of the organization: `left` has who left until then. */
  checked_at?: number | undefined;
  /** Former members, as far as they fit. */
  left?: readonly Left[] | undefined;
}

/** In bytes. All plaintexts have this length: the longest name, and some thirty members. */
const length = 4096;
/** The number of boxes is a multiple of this. */
const block = 8;

/**
 * Adds the pins of vaults, by id, to those that a device keeps of hidden vaults. A pin opens only
 * with the vault's id, which no one can guess. Boxes with random content hide the number of vaults:
 * it is seen in steps of eight only, and never as none.
 */
export async function withHiddenPins(
  userKey: Uint8Array,
  hidden: readonly string[],
  pins: ReadonlyMap<string, HiddenPin>,
): Promise<string[]> {
  const boxes = [...hidden];
  for (const [id, pin] of pins) {
    const sealed = await sealPin(await hiddenPinKey(userKey, id), id, plaintextOf(pin));
    const at = await placeOf(userKey, boxes, id);
    boxes.splice(at ?? boxes.length, 1, sealed);
  }
  while (boxes.length === 0 || boxes.length % block !== 0)
    boxes.push(await sealPin(newKey(), crypto.randomUUID(), crypto.getRandomValues(new Uint8Array(length))));
  // The nonces make this order random.
  return boxes.sort();
}

/** The pin that the device stored when it forgot a vault; undefined when there is none. */
export async function hiddenPin(
  userKey: Uint8Array,
  hidden: readonly string[],
  id: string,
): Promise<HiddenPin | undefined> {
  const at = await placeOf(userKey, hidden, id);
  const opened = at === undefined ? undefined : await openPin(userKey, hidden[at] ?? "", id);
  return opened === undefined ? undefined : (JSON.parse(decodeText(opened)) as HiddenPin); // this device sealed it
}

function plaintextOf(pin: HiddenPin): Uint8Array {
  const text = encodeText(JSON.stringify(pin));
  if (text.length > length) {
    const { expect = [], ended = [], left = [], checked_at = Infinity } = pin;
    const last = left.at(-1);
    // The newest entry's history has the others.
    if (expect.length > 1) return plaintextOf({ ...pin, expect: expect.slice(1) });
    if (last === undefined) return plaintextOf({ ...pin, ended: ended.slice(1) });
    // The vault is then compared with the organization's entries from that departure on again.
    return plaintextOf({ ...pin, left: left.slice(0, -1), checked_at: Math.min(checked_at, last.at - 1) });
  }
  const padded = new Uint8Array(length).fill(0x20);
  padded.set(text);
  return padded;
}

function sealPin(key: Uint8Array, id: string, plaintext: Uint8Array): Promise<string> {
  return box(key, plaintext, contexts.hiddenPin(id));
}

async function openPin(userKey: Uint8Array, sealed: string, id: string): Promise<Uint8Array | undefined> {
  return unboxBound(await hiddenPinKey(userKey, id), sealed, contexts.hiddenPin(id)).catch(() => undefined);
}

async function placeOf(userKey: Uint8Array, boxes: readonly string[], id: string): Promise<number | undefined> {
  for (const [at, sealed] of boxes.entries()) if ((await openPin(userKey, sealed, id)) !== undefined) return at;
  return undefined;
}
