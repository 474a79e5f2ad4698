import type { HistoryState, Resource } from "@coffer/history";
import { CofferError } from "../errors.ts";
import type { Histories } from "../histories/histories.ts";
import { trustedIn, withTrusted } from "./trust-storage.ts";

/**
 * Stores that the person removes a folder or vault, before the request: a service that shows it
 * again must not put it in the place of another one with its name. A refusal takes that back; after
 * a lost response it stays. Throws what `request` throws.
 */
export async function removing(histories: Histories, res: Resource, request: () => Promise<unknown>): Promise<void> {
  const store = (isRemoved: boolean): Promise<unknown> =>
    histories.changeRecord((record) => {
      const there = trustedIn(record, res);
      if (there === undefined || !(isRemoved ? there.accepted : there.removed)) return record;
      const after = { ...there, accepted: !isRemoved, removed: isRemoved || undefined };
      return { ...withTrusted(record, res, after), unsaved: true };
    });
  await store(true);
  try {
    await request();
  } catch (error) {
    if (isRefusal(error)) await store(false);
    throw error;
  }
}

/** Whether the service has answered that it did nothing. What it does not find may be gone already. */
export function isRefusal(error: unknown): boolean {
  if (!(error instanceof CofferError) || error.foreign || error.status === undefined) return false;
  return error.status >= 400 && error.status < 500 && error.status !== 404;
}

/** The error when the service shows what the person has removed. */
export function removedByYou({ res, name }: HistoryState): CofferError {
  const [kind = "", id = ""] = res.split(":");
  return new CofferError(
    "not_accepted",
    `you have removed the ${kind} ${name}, and the service still shows it: \`coffer ${kind} rm ${id}\` removes it ` +
      `again, \`coffer ${kind} accept ${id}\` uses it again`,
  );
}
