import { holderOf, kindOf } from "@coffer/history";
import type { Cut, Head, HistoryState, HolderId, Resource } from "@coffer/history";
import type { Trusted, TrustRecord } from "./trust-storage.ts";

/** An entry of an organization's history that drops a member, or states a former member's `cut`. */
export interface Departure {
  /** The number of the entry. */
  seq: number;
  who: HolderId;
  /** The public key of the dropped member; undefined when the entry only states a `cut` again. */
  key: string | undefined;
  /** The histories that the entry names, with their entries. */
  cut: Cut;
}

/**
 * A person who left the organization, and how far that person's signatures count in a folder or
 * vault that the `cut` does not name.
 */
export interface Left {
  who: HolderId;
  key: string;
  /** The device's pin when it learned of the departure. */
  until: Head;
}

/** The departures between two states of an organization's history, one entry apart. */
export function departuresIn(before: HistoryState | null, after: HistoryState): Departure[] {
  if (before === null || kindOf(after.res) !== "org") return [];
  const dropped = before.holders.filter(({ who, key }) => holderOf(after, who)?.key !== key);
  return after.former.flatMap(({ who, key, cut }) => {
    const known = before.former.find((one) => one.who === who && one.key === key)?.cut ?? {};
    const stated = Object.entries(cut).filter(([name, [seq, hash]]) => {
      const [knownSeq, knownHash] = known[name] ?? [];
      return seq !== knownSeq || hash !== knownHash;
    });
    const left = dropped.some((one) => one.who === who && one.key === key);
    if (!left && stated.length === 0) return [];
    return [{ seq: after.head.seq, who, key: left ? key : undefined, cut: Object.fromEntries(stated) }];
  });
}

/**
 * Stores for each folder and vault of an organization who left it without a `cut` for that folder or
 * vault. A service can leave one out of a removal. Its history then names the person on, and the
 * person may return.
 * @param names the names in a `cut` of all histories in `resources`
 * @returns undefined when a name is missing
 */
export function addLeft(
  resources: TrustRecord["resources"],
  org: Resource,
  departures: readonly Departure[],
  names: ReadonlyMap<string, string>,
): TrustRecord["resources"] | undefined {
  const changed = { ...resources };
  for (const [res, trusted] of Object.entries(resources)) {
    if (departures.length === 0 || trusted.state === null || `org:${trusted.state.org ?? ""}` !== org) continue;
    const name = names.get(res);
    if (name === undefined) return undefined;
    const left = departures.reduce((all, departure) => leftAfter(all, departure, trusted, name), trusted.left ?? []);
    if (left.length > 0 || trusted.left !== undefined) changed[res] = { ...trusted, left };
  }
  return changed;
}

function leftAfter(
  left: readonly Left[],
  { who, key, cut }: Departure,
  { state, pin }: Trusted,
  name: string,
): readonly Left[] {
  // The organization says it from now on.
  if (Object.hasOwn(cut, name)) return left.filter((one) => one.who !== who);
  if (key === undefined || state === null || holderOf(state, who)?.key !== key) return left;
  return [...left.filter((one) => one.who !== who || one.key !== key), { who, key, until: pin }];
}

/**
 * The organization's state with what this device knows of former members in one folder or vault, in
 * the form of a `cut`. A later `cut` of the organization counts instead.
 * @param name the name of the folder's or vault's history in a `cut`
 */
export function withLeft(organization: HistoryState, name: string, left: readonly Left[]): HistoryState {
  if (left.length === 0) return organization;
  const former = organization.former.map((one) => {
    const known = left.find(({ who, key }) => who === one.who && key === one.key);
    const [seq = -1] = one.cut[name] ?? [];
    if (known === undefined || known.until.seq <= seq) return one;
    return { ...one, cut: { ...one.cut, [name]: [known.until.seq, known.until.hash] as [number, string] } };
  });
  return { ...organization, former };
}
