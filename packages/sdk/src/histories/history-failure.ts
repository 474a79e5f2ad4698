import { type Head, HistoryError, type Resource } from "@coffer/history";
import { CofferError } from "../errors.ts";

/** The command with which a person clears an error. */
export function trustCommand(res: Resource): string {
  const [kind = "", id = ""] = res.split(":");
  return `coffer ${kind} trust ${id}`;
}

const advice: Record<HistoryError["code"], (res: Resource | undefined) => string> = {
  history_invalid: () => "the service shows a history that its managers did not sign: nothing of it is used",
  signer_removed: () =>
    "nothing that this person signed since the removal is used: contact a manager of the organization",
  history_rolled_back: (res) => cleared(res),
  history_forked: (res) => cleared(res),
  join_invalid: () => "request a new invitation or token",
};

function cleared(res: Resource | undefined): string {
  const command = res === undefined ? "coffer folder trust" : trustCommand(res);
  return `if the operator has announced a restore from a backup, compare the words that \`${command}\` shows`;
}

/**
 * Converts an error of `@coffer/history` to CofferError with advice; returns every other error
 * unchanged.
 */
export function historyFailure(error: unknown): unknown {
  if (!(error instanceof HistoryError)) return error;
  return new CofferError(error.code, `${error.message}; ${advice[error.code](error.res)}`, { cause: error });
}

/**
 * Converts the error of a comparison with a `cut` of the organization, which a false response may
 * have caused. The message names the entry that this device has verified, so that an owner or admin
 * can correct the cut.
 */
export function cutFailure(error: unknown, pin: Head | null): unknown {
  if (!(error instanceof HistoryError) || error.cutOf === undefined || pin === null) return historyFailure(error);
  const { code, message, cutOf, res = "" } = error;
  const command = `coffer member cut ${cutOf.slice("user:".length)} ${res} --entry ${pin.seq}:${pin.hash}`;
  return new CofferError(
    code,
    `${message}; this device has verified entry ${pin.seq}. If others who use it have verified the same entry, the service ` +
      `gave a wrong one when that person was removed: an owner or admin corrects it with \`${command}\``,
    { cause: error },
  );
}

/**
 * Rethrows the errors of the work, with those of `@coffer/history` converted by `historyFailure`.
 */
export async function understoodHistory<T>(work: Promise<T>): Promise<T> {
  try {
    return await work;
  } catch (error) {
    throw historyFailure(error);
  }
}
