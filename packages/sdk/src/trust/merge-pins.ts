import type { Histories } from "../histories/histories.ts";
import { understoodHistory } from "../histories/history-failure.ts";
import { type Left, mergeLeft } from "../histories/left.ts";
import { forked, hashBefore } from "../histories/walk.ts";
import { type SharedPin, type Trusted, type TrustRecord, withExpected } from "./trust-storage.ts";

/** The pins of another device of the person. */
export interface SharedPins {
  /** By the names of histories. */
  pins: Record<string, SharedPin>;
  /** Folders and vaults that the person has made or accepted. */
  accepted: readonly string[];
  /** Who left the organization, where its history does not say how far the person's signatures count. */
  left: Readonly<Record<string, readonly Left[]>>;
}

/**
 * An older pin of another device must be part of the history that was verified here. Throws
 * CofferError `history_forked`.
 */
export async function requireContained(
  own: Histories,
  { resources }: TrustRecord,
  { pins }: SharedPins,
): Promise<void> {
  for (const [res, pin] of Object.entries(pins)) {
    const here = resources[res]?.pin;
    if (here === undefined || pin.seq > here.seq) continue;
    const name = res as `folder:${string}`; // the pins have the names of histories
    if (pin.seq === here.seq && pin.hash === here.hash) continue;
    const hash = await understoodHistory(hashBefore(own.read, name, pin.seq, here));
    if (hash !== pin.hash) throw await understoodHistory(Promise.reject<Error>(forked(name, pin.seq)));
  }
}

/** Whether the pins of this device are still those with which the others were compared. */
export function areAsCompared(
  compared: TrustRecord["resources"],
  present: TrustRecord["resources"],
  { pins }: SharedPins,
): boolean {
  return Object.keys(pins).every((res) => present[res]?.pin.hash === compared[res]?.pin.hash);
}

/**
 * Merges the pins of this device and another one.
 * @param listed what an earlier version listed as accepted: without it now, another device has
 *   removed it
 */
export function withPins(
  resources: TrustRecord["resources"],
  { pins, accepted, left }: SharedPins,
  listed: readonly string[] = [],
): TrustRecord["resources"] {
  const merged = { ...resources };
  for (const [res, pin] of Object.entries(pins)) {
    const here = resources[res];
    const isAccepted = accepted.includes(res) || res.startsWith("org:");
    const others = Object.hasOwn(left, res) ? left[res] : undefined;
    const { at, ...head } = pin;
    if (here === undefined)
      merged[res] = { pin: head, state: null, accepted: isAccepted, left: others, checked_at: at };
    else {
      const isUsed = isAccepted || (here.accepted && !listed.includes(res));
      merged[res] = {
        ...withOthersLeft(withExpected(here, pin), others),
        accepted: isUsed && here.removed !== true,
      };
    }
  }
  return merged;
}

/** Another device's list of former members can end the use of a key: the signers are checked again. */
function withOthersLeft(here: Trusted, others: readonly Left[] | undefined): Trusted {
  if (others === undefined || others.length === 0) return here;
  return { ...here, left: mergeLeft(here.left, others), checked_by: undefined };
}
