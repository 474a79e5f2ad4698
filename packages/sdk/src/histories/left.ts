import { type Cut, type Head, type HistoryState, type HolderId, holderOf, kindOf } from "@coffer/history";
import type { Trusted, TrustRecord } from "../trust/trust-storage.ts";

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
  /** The number of the organization's entry that says so. */
  at: number;
  /** The device's pin when it learned of the departure; null once the organization states a `cut`. */
  until: Head | null;
}

/** The departures between two states of a history, one entry apart; only an organization's has some. */
export function departuresIn(before: HistoryState | null, after: HistoryState): Departure[] {
  if (before === null) return [];
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
 * The trust in an organization with who left it, as the device knew and as it has read now; any other
 * trust unchanged. Each pin of a folder or vault states from which entry on they count.
 */
export function withDepartures<T extends Trusted>(
  there: Trusted | undefined,
  after: T,
  departures: readonly Departure[],
): T {
  if (after.state === null || kindOf(after.state.res) !== "org") return after;
  const all = [...(there?.missed ?? []), ...(after.missed ?? []), ...departures];
  const each = new Map(all.map((one) => [JSON.stringify(one), one]));
  const missed = [...each.values()].toSorted((one, other) => one.seq - other.seq);
  const since = there?.state == null ? (there ?? after).pin.seq : there.since;
  return { ...after, missed, since };
}

/**
 * The trust in the folders and vaults of an organization whose history is trusted as it is shown, after
 * a restore: who leaves from now on, and who left only in the history that is shown, counts for each
 * pin. Their numbers can be lower than that of the entry against which the pin was checked before.
 */
export function checkedBefore(
  resources: TrustRecord["resources"],
  { res: org, head }: HistoryState,
  departures: readonly Departure[],
): TrustRecord["resources"] {
  const known = new Set((resources[org]?.missed ?? []).map((one) => JSON.stringify(one)));
  const added = departures.filter((one) => !known.has(JSON.stringify(one)));
  const last = Math.min(head.seq, ...added.map(({ seq }) => seq - 1));
  const isCheckedLater = ({ state, checked_at: at = -1 }: Trusted): boolean =>
    at > last && (state === null || org === `org:${state.org ?? ""}`);
  return Object.fromEntries(
    Object.entries(resources).map(([res, there]) => [
      res,
      isCheckedLater(there) ? { ...there, checked_at: last, checked_by: undefined } : there,
    ]),
  );
}

/**
 * What is known of who left the organization without a `cut` for a folder or vault: what was known
 * before, and who left after the pin was checked. A service can leave a folder or vault out of a
 * removal, and hide it until the person has returned.
 * @param state its state now
 * @param name its name in a `cut`
 */
export function leftSince(
  { missed = [], since = -1 }: Trusted,
  { pin, left = [], checked_at = since }: Trusted,
  { holders, signers }: HistoryState,
  name: string,
): readonly Left[] {
  return missed
    .filter(({ seq }) => seq > checked_at)
    .reduce((all, one) => leftAfter(all, one, [...holders, ...signers], pin, name), left);
}

function leftAfter(
  left: readonly Left[],
  { seq: at, who, key, cut }: Departure,
  concerned: readonly { who: HolderId; key: string }[],
  { seq, hash }: Head,
  name: string,
): readonly Left[] {
  // The organization says it from now on. That stays stored for the person's other devices.
  if (Object.hasOwn(cut, name))
    return inOrder(left.map((one) => (one.who === who && one.at < at ? { ...one, at, until: null } : one)));
  if (key === undefined || !concerned.some((one) => one.who === who && one.key === key)) return left;
  return mergeLeft(left, [{ who, key, at, until: { seq, hash } }]);
}

/**
 * What two devices of a person know of former members in one folder or vault: of each the later
 * departure. For one departure the device counts that knew fewer entries.
 */
export function mergeLeft(left: readonly Left[] = [], others: readonly Left[] = []): readonly Left[] {
  const merged = others.reduce<readonly Left[]>((all, other) => {
    const known = all.find(({ who, key }) => who === other.who && key === other.key);
    if (known === undefined) return [...all, other];
    return replaces(other, known) ? all.map((one) => (one === known ? other : one)) : all;
  }, left);
  return inOrder(merged);
}

/** Whether two lists of plain JSON are equal. */
export function isSameList<T>(one: readonly T[] = [], other: readonly T[] = []): boolean {
  return JSON.stringify(one) === JSON.stringify(other);
}

/** In one order on every device, so that equal knowledge is not published again. */
function inOrder(left: readonly Left[]): readonly Left[] {
  const place = ({ who, key }: Left): string => `${who} ${key}`;
  return left.toSorted((one, other) => one.at - other.at || (place(one) < place(other) ? -1 : 1));
}

function replaces(other: Left, known: Left): boolean {
  if (other.at !== known.at) return other.at > known.at;
  return other.until !== null && known.until !== null && other.until.seq < known.until.seq;
}

/**
 * The organization's state with what this device knows of former members in one folder or vault, in
 * the form of a `cut`. A later `cut` of the organization counts instead.
 * @param name the name of the folder's or vault's history in a `cut`
 */
export function withLeft(organization: HistoryState, name: string, left: readonly Left[] = []): HistoryState {
  if (left.length === 0) return organization;
  const former = organization.former.map((one) => {
    const { until = null } = left.find(({ who, key }) => who === one.who && key === one.key) ?? {};
    const [seq = -1] = one.cut[name] ?? [];
    if (until === null || until.seq <= seq) return one;
    const cut: Cut = { ...one.cut, [name]: [until.seq, until.hash] };
    return { ...one, cut };
  });
  return { ...organization, former };
}
