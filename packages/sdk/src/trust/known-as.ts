import { type HistoryState, kindOf, type Resource } from "@coffer/history";
import { CofferError } from "../errors.ts";
import { folded } from "../folded.ts";
import type { Histories } from "../histories/histories.ts";
import { isUuid } from "../http/require-requested.ts";
import type { Caller } from "../secrets/secret-store.ts";
import { removedByYou } from "./removed.ts";
import { isManagerOf, type Trusted, trustedIn, type TrustRecord } from "./trust-storage.ts";

/**
 * Throws CofferError `name_ambiguous` for a folder or vault whose name is that of another one that
 * the caller has accepted, unless the caller has given it the name since. The service can hide the
 * other one, so that the name would mean this one: others have renamed it, or it is an earlier one
 * that was removed. A folder that a machine accepted without a question takes the name once, if its
 * giver manages the other one. Throws `not_accepted` for one that the person has removed.
 * @param organization the organization that a vault was looked for in. Folders are always of one.
 */
export async function requireOwnName(
  histories: Pick<Histories, "record" | "learned" | "changeRecord">,
  res: Resource,
  caller: Caller,
  organization?: string,
): Promise<void> {
  const record = await histories.record();
  const { state, known_as: knownAs, removed, unasked = false } = trustedIn(record, res) ?? {};
  if (state == null) return;
  if (removed === true) throw removedByYou(state);
  if (knownAs !== undefined && kindOf(res) === "vault" && (record.hidden ?? []).length > 0)
    throw new CofferError(
      "name_ambiguous",
      `${knownAs} was renamed to ${state.name}, which may be the name of a vault that this device has forgotten: ` +
        `name it by its id, ${res.slice("vault:".length)}. \`coffer vault accept <id>\` takes the name`,
    );
  let [other] = rivals(record, res, organization);
  if (other !== undefined && caller === "person") {
    // Another device of the person may have removed the other one.
    await histories.learned(res);
    [other] = rivals(await histories.record(), res, organization);
  }
  if (other === undefined) return unasked ? takeName(histories, res) : undefined;
  const [kind = "", id = ""] = res.split(":");
  const ids = `${id} or ${other.slice(kind.length + 1)}`;
  const command = caller === "machine" ? `coffer ${kind} trust ${id} --config <file>` : `coffer ${kind} accept ${id}`;
  const problem =
    knownAs === undefined
      ? `another ${kind} of yours is called ${state.name}`
      : `${knownAs} was renamed to ${state.name}, as another ${kind} of yours is called`;
  throw new CofferError("name_ambiguous", `${problem}: name one by its id, ${ids}. \`${command}\` takes the name`);
}

/** Those that the caller may mean by the name of a folder or vault. */
function rivals(record: TrustRecord, res: Resource, organization: string | undefined): Resource[] {
  const own = trustedIn(record, res);
  if (own?.state == null || !own.accepted) return [];
  const { state, known_as: knownAs, unasked, given, took = [] } = own;
  const org = kindOf(res) === "folder" ? (state.org ?? undefined) : organization;
  return namesakesIn(record, state).filter((name) => {
    const other = trustedIn(record, name);
    if (other === undefined || knownAs !== undefined) return true;
    if (took.includes(name)) return false;
    if (unasked === true) return !givesName(given, other) || other.took?.includes(res) === true;
    // Its name is not the one that the caller knows, or it may not have the name.
    if (other.known_as !== undefined || (other.unasked === true && !givesName(other.given, own))) return false;
    return org === undefined || other.state?.org === org;
  });
}

/** Whether the giver of a machine's folder may give it the name of another one of the machine. */
function givesName(given: Trusted["given"], other: Trusted): boolean {
  return given !== undefined && isManagerOf(given, other);
}

/** The other folders or vaults that the caller has accepted and whose name is now that of this one. */
export async function namesakes(histories: Pick<Histories, "record">, res: Resource): Promise<Resource[]> {
  const record = await histories.record();
  const state = trustedIn(record, res)?.state;
  return state == null ? [] : namesakesIn(record, state);
}

function namesakesIn({ resources }: TrustRecord, { res, name }: HistoryState): Resource[] {
  return Object.values(resources).flatMap(({ accepted, state }) => {
    const isOther = accepted && state !== null && state.res !== res && kindOf(state.res) === kindOf(res);
    return isOther && folded(state.name) === folded(name) ? [state.res] : [];
  });
}

/** Stores that the name of a folder or vault means this one, and none of the others that have it now. */
export async function takeName(histories: Pick<Histories, "changeRecord">, res: Resource): Promise<void> {
  await histories.changeRecord((record) => {
    const own = trustedIn(record, res);
    const others = own?.state == null ? [] : namesakesIn(record, own.state);
    if (own === undefined || others.every((other) => own.took?.includes(other))) return record;
    const resources = { ...record.resources, [res]: { ...own, took: others } };
    for (const other of others) {
      const there = resources[other] as Trusted; // it is among them
      resources[other] = { ...there, took: there.took?.filter((one) => one !== res) };
    }
    return { ...record, resources };
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
  // The person's other devices may know more of them than this one.
  for (const { id } of listed.filter((one) => isUuid(one.id))) {
    const res = `org:${id}` as const;
    if ((resources[res]?.state ?? null) === null) named.set(id, (await joined(histories, res)) ?? named.get(id) ?? "");
  }
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

/** Without a keyring nothing can be written in an organization, so that its name may be the service's. */
const unknownHere: readonly string[] = ["not_accepted", "no_history", "keyring_missing", "keyring_rolled_back"];

/**
 * The name in the history of an organization that the person has joined with any device; undefined
 * for others.
 */
async function joined({ newest }: Pick<Histories, "newest">, res: Resource): Promise<string | undefined> {
  try {
    return (await newest(res)).state.name;
  } catch (error) {
    if (error instanceof CofferError && unknownHere.includes(error.code)) return undefined;
    throw error;
  }
}
