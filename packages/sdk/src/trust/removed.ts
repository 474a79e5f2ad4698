import type { HistoryState, Resource } from "@coffer/history";
import { CofferError } from "../errors.ts";
import type { Histories } from "../histories/histories.ts";
import { emptyTrust, trustedIn, type TrustRecord, withTrusted } from "./trust-storage.ts";

/** What a request does, in what the device trusts. */
interface Effect {
  store(record: TrustRecord): TrustRecord;
  /** Only what this request has stored: an earlier one may have done the same. */
  takeBack(record: TrustRecord, earlier: TrustRecord): TrustRecord;
}

/**
 * Stores what a request does before it is sent: a lost response must not hide that it was done. A
 * refusal takes it back. Throws what `request` throws.
 */
export async function storedFirst(
  histories: Pick<Histories, "changeRecord">,
  { store, takeBack }: Effect,
  request: () => Promise<unknown>,
): Promise<void> {
  let earlier = emptyTrust();
  await histories.changeRecord((record) => store((earlier = record)));
  try {
    await request();
  } catch (error) {
    if (isRefusal(error)) await histories.changeRecord((record) => takeBack(record, earlier));
    throw error;
  }
}

/** Whether the service has answered that it did nothing. What it does not find may be gone already. */
function isRefusal(error: unknown): boolean {
  const { status = 0 } = error instanceof CofferError && !error.foreign ? error : {};
  return status >= 400 && status < 500 && status !== 404;
}

/**
 * Removes a folder or vault. A service that shows it again must not put it in the place of another
 * one with its name. Throws what `request` throws.
 */
export function removing(histories: Histories, res: Resource, request: () => Promise<unknown>): Promise<void> {
  const changed = (record: TrustRecord, isRemoved: boolean): TrustRecord => {
    const there = trustedIn(record, res);
    if (there === undefined || !(isRemoved ? there.accepted : there.removed)) return record;
    const after = { ...there, accepted: !isRemoved, removed: isRemoved || undefined };
    return { ...withTrusted(record, res, after), unsaved: true };
  };
  const effect: Effect = {
    store: (record) => changed(record, true),
    takeBack: (record, earlier) => (trustedIn(earlier, res)?.accepted === true ? changed(record, false) : record),
  };
  return storedFirst(histories, effect, request);
}

/** The error when the service shows what the person has removed. */
export function removedByYou({ res, name }: HistoryState): CofferError {
  const [kind = "", id = ""] = res.split(":");
  return new CofferError(
    "not_accepted",
    `you have removed the ${kind} ${name}: \`coffer ${kind} accept ${id}\` uses it again, ` +
      `\`coffer ${kind} rm ${id}\` removes it`,
  );
}
