import { kindOf, type Resource } from "@coffer/history";
import { CofferError } from "../errors.ts";
import { folded } from "../folded.ts";
import type { Histories } from "../histories/histories.ts";
import type { Caller } from "../secrets/secret-store.ts";
import { isManagerOf, trustedIn } from "./trust-storage.ts";

/**
 * Throws CofferError `name_ambiguous` for a folder or vault whose name is that of another one that
 * the caller has accepted, when others have chosen the name: they have renamed it since it was
 * accepted, or it is a folder that a machine accepted without a question. The service can hide the
 * other one, so that the name would mean this one. A manager of the other one may take its name.
 */
export async function requireOwnName(
  histories: Pick<Histories, "record">,
  res: Resource,
  caller: Caller,
): Promise<void> {
  const record = await histories.record();
  const { state, known_as: knownAs, unasked = false, given } = trustedIn(record, res) ?? {};
  if (state == null || (knownAs === undefined && !unasked)) return;
  if (knownAs !== undefined && kindOf(res) === "vault" && (record.hidden ?? []).length > 0)
    throw new CofferError(
      "name_ambiguous",
      `${knownAs} was renamed to ${state.name}, which may be the name of a vault that this device has forgotten: ` +
        `name it by its id, ${res.slice("vault:".length)}. \`coffer vault accept <id>\` takes the name`,
    );
  const name = folded(state.name);
  const others = Object.values(record.resources).filter(({ accepted, state: of }) => {
    const isNamed = of !== null && of.res !== res && kindOf(of.res) === kindOf(res) && folded(of.name) === name;
    return accepted && isNamed;
  });
  const other = others.find((one) => knownAs !== undefined || given === undefined || !isManagerOf(given, one))?.state;
  if (other == null) return;
  const [kind = "", id = ""] = res.split(":");
  const ids = `${id} or ${other.res.slice(kind.length + 1)}`;
  const command = caller === "machine" ? `coffer ${kind} trust ${id} --config <file>` : `coffer ${kind} accept ${id}`;
  const problem =
    knownAs === undefined
      ? `two folders of this machine have the name ${state.name}, and the service shows one of them`
      : `${knownAs} was renamed to ${state.name}, as another ${kind} of yours is called`;
  throw new CofferError("name_ambiguous", `${problem}: name one by its id, ${ids}. \`${command}\` takes the name`);
}

/** The other folders or vaults that the caller has accepted and whose name is now that of this one. */
export async function namesakes(histories: Pick<Histories, "record">, res: Resource): Promise<Resource[]> {
  const record = await histories.record();
  const name = folded(trustedIn(record, res)?.state?.name ?? "");
  return Object.values(record.resources).flatMap(({ accepted, state }) => {
    const isOther = accepted && state !== null && state.res !== res && kindOf(state.res) === kindOf(res);
    return isOther && folded(state.name) === name ? [state.res] : [];
  });
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

/**
 * The organizations that a name may mean: those that the service lists, each under the name of its
 * history, and those that this device knows and the service does not list. Otherwise the service
 * could give the name of a hidden one to another organization of the caller's.
 */
export async function nameableOrganizations(
  histories: Pick<Histories, "record" | "newest">,
  listed: readonly { id: string; name: string }[],
): Promise<{ id: string; name: string }[]> {
  const { resources } = await histories.record();
  const named = new Map(listed.map(({ id, name }) => [id, name]));
  for (const { state } of Object.values(resources)) {
    if (state === null || kindOf(state.res) !== "org") continue;
    const id = state.res.slice("org:".length);
    const shown = named.get(id);
    // Another name may be that of a newer entry.
    const isRenamed = shown !== undefined && shown !== state.name;
    named.set(id, isRenamed ? (await histories.newest(state.res)).state.name : state.name);
  }
  return [...named].map(([id, name]) => ({ id, name }));
}
