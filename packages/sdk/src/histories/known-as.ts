import { kindOf } from "@coffer/history";
import type { Resource } from "@coffer/history";
import { CofferError } from "../errors.ts";
import { folded } from "../folded.ts";
import type { Histories } from "./histories.ts";
import { trustedIn } from "./trust-storage.ts";

/**
 * Throws CofferError `name_ambiguous` for a folder or vault that others have renamed since the
 * caller accepted it, when it now has the name of another one that the caller has accepted. The
 * service can hide the other one, so that the name would mean this one.
 */
export async function requireOwnName(histories: Pick<Histories, "record">, res: Resource): Promise<void> {
  const record = await histories.record();
  const { state, known_as: knownAs } = trustedIn(record, res) ?? {};
  if (state == null || knownAs === undefined) return;
  const name = folded(state.name);
  const others = Object.values(record.resources).flatMap((other) => (other.accepted ? (other.state ?? []) : []));
  const other = others.find((one) => one.res !== res && kindOf(one.res) === kindOf(res) && folded(one.name) === name);
  if (other === undefined) return;
  const [kind = "", id = ""] = res.split(":");
  throw new CofferError(
    "name_ambiguous",
    `${knownAs} was renamed to ${state.name}, as another ${kind} of yours is called: name one by its id, ${id} or ` +
      `${other.res.slice(kind.length + 1)}. \`coffer ${kind} accept ${id}\` takes the new name`,
  );
}

/**
 * The name under which the caller has accepted a folder or vault, after entries of others: undefined
 * while it is the present one, or before it is accepted.
 */
export function knownAsAfter(
  before: { accepted: boolean; state: { name: string } | null; known_as?: string | undefined } | undefined,
  name: string,
): string | undefined {
  const knownAs = before?.known_as ?? before?.state?.name ?? name;
  return before?.accepted !== true || knownAs === name ? undefined : knownAs;
}
