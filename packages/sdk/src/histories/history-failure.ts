import { HistoryError } from "@coffer/history";
import type { Resource } from "@coffer/history";
import { CofferError } from "../errors.ts";

/** What clears an error that only a person may clear. */
export function trustCommand(res: Resource): string {
  const [kind = "", id = ""] = res.split(":");
  return `coffer ${kind} trust ${id}`;
}

const advice: Record<HistoryError["code"], (res: Resource | undefined) => string> = {
  history_invalid: () => "the service shows a history that its managers did not sign: nothing of it is used",
  signer_removed: () => "nothing that this person signed since the removal is used: ask a manager of the organization",
  history_rolled_back: (res) => cleared(res),
  history_forked: (res) => cleared(res),
  join_invalid: () => "ask for a new invitation or token",
};

function cleared(res: Resource | undefined): string {
  const command = res === undefined ? "coffer folder trust" : trustCommand(res);
  return `if the operator has announced a restore from a backup, compare the words that \`${command}\` shows`;
}

/** An error of `@coffer/history` in this package's words, with what to do; every other error as it is. */
export function historyFailure(error: unknown): unknown {
  if (!(error instanceof HistoryError)) return error;
  return new CofferError(error.code, `${error.message}; ${advice[error.code](error.res)}`, { cause: error });
}

/** Throws what the work throws, with the errors of `@coffer/history` in this package's words. */
export async function understoodHistory<T>(work: Promise<T>): Promise<T> {
  try {
    return await work;
  } catch (error) {
    throw historyFailure(error);
  }
}
