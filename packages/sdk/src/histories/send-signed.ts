import { type Change, type Head, type HistoryState, holderOf, readEntry, type Resource } from "@coffer/history";
import { CofferError } from "../errors.ts";
import type { Histories, Verified } from "./histories.ts";
import type { Trusted } from "../trust/trust-storage.ts";
import { endedAfterOwn } from "../trust/ended.ts";
import type { ReadEntries } from "./read-entries.ts";

/** A signed change of a history that this device trusts. */
export interface SignedChange {
  before: Verified;
  change: Change;
  /** The state after its entry. */
  after: HistoryState;
}

/** The service's response for an entry's number: the entry, another one or none, or no page of a history. */
type Shown = "entry" | "other" | "unknown";

/** Reads an entry back that was sent. */
export async function shownAt(read: ReadEntries, res: Resource, { seq, hash }: Head): Promise<Shown> {
  try {
    const [text] = (await read(res, seq === 0 ? undefined : seq - 1)).entries;
    return text !== undefined && (await readEntry(text)).hash === hash ? "entry" : "other";
  } catch (error) {
    // A malformed entry is a HistoryError.
    return error instanceof CofferError ? "unknown" : "other";
  }
}

/**
 * Sends a change with its entries, one per history, and reads them back before it stores the states
 * after them. Sends it once more if the service does not show them: one false answer, as a
 * gateway's, must not make this device trust an entry that no other device sees. A change that
 * takes something from a member or machine is stored unless the service shows another entry and
 * refuses the second request: this device must not go on with the state before it. Throws what
 * `send` throws, and CofferError `bad_answer` when the service twice acknowledges a change that it
 * does not show.
 */
export async function sendSigned<T>(
  histories: Pick<Histories, "read" | "keep">,
  changes: readonly SignedChange[],
  send: () => Promise<T>,
): Promise<T> {
  const look = async (): Promise<Shown> => {
    const shown = await Promise.all(changes.map(({ after }) => shownAt(histories.read, after.res, after.head)));
    return shown.find((one) => one !== "entry") ?? "entry";
  };
  let result = await send();
  let shown = await look();
  if (shown === "other") {
    try {
      result = await send();
      shown = await look();
    } catch (error) {
      // It may have been stored by the first request, and hidden once.
      shown = await look();
      if (shown !== "entry") throw error;
    }
  }
  for (const one of changes) if (shown === "entry" || takesAway(one)) await storeSigned(histories, one);
  const [hidden] = changes;
  if (shown === "other" && hidden !== undefined) throw notShown(hidden);
  return result;
}

/** Stores the state after an entry that the service has accepted. */
async function storeSigned(
  histories: Pick<Histories, "keep">,
  { before: trusted, after: state }: SignedChange,
): Promise<void> {
  // The caller knows a name of the caller's own.
  const named = state.name === trusted.state.name ? {} : { known_as: undefined };
  const after = (before: Trusted | undefined): Trusted => ({
    ...(before ?? trusted),
    ...named,
    pin: state.head,
    state,
    ended: endedAfterOwn(before?.ended, trusted.ended, state),
  });
  await histories.keep(state.res, after, trusted.pin);
}

/** Whether a change takes something from a member or machine, or may do so. */
function takesAway({ before: { state }, change: { drop = [], cut, ver, set = [] } }: SignedChange): boolean {
  const drops = drop.some((who) => !who.startsWith("invite:"));
  return drops || cut !== undefined || ver !== undefined || set.some(({ who }) => holderOf(state, who) !== undefined);
}

function notShown(signed: SignedChange): CofferError {
  const { name, res } = signed.before.state;
  const [kind = "", id = ""] = res.split(":");
  const next = takesAway(signed)
    ? `nothing from before it is used here until \`coffer ${kind} trust ${id}\``
    : "try again, and inform the operator if it persists";
  return new CofferError(
    "bad_answer",
    `the service acknowledges the change of ${name} and does not show its entry: ${next}`,
  );
}
