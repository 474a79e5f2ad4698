import {
  type Cut,
  cutName,
  type Head,
  HistoryError,
  type HistoryState,
  holderOf,
  kindOf,
  type Resource,
} from "@coffer/history";
import { CofferError } from "../errors.ts";
import { isUuid } from "../http/require-requested.ts";
import type { Send } from "../http/transport.ts";
import { dataOf, namedItems } from "../http/list-answer.ts";
import { rememberEnded, unlessGone } from "../trust/ended.ts";
import type { PersonTrust } from "../trust/person-trust.ts";
import type { FolderView } from "../views.ts";
import { deadInviteTags } from "./dead-tags.ts";

/** The follow-up work of a removal for managers. */
export interface Removal {
  /**
   * Whether the organization's history records the removal. If not, an owner or admin must sign it.
   */
  signed: boolean;
  /** The folders and vaults whose histories name the person until they are rotated. */
  rotate: { kind: "folder" | "vault"; id: string; name: string }[];
}

/** The entries of a `cut` that fit into one history entry of at most 64 KiB. */
const cutsInEntry = 250;

/**
 * Ends a person's membership, and signs it at once with how far the person's signatures count in
 * every folder and vault. A caller who leaves, or may not sign, leaves the signature to an owner or
 * admin.
 * @param readHistories reads those of the caller's folders and vaults: one that this device does
 *   not know would be missing from the result
 */
export async function removeMember(
  send: Send,
  trust: PersonTrust,
  userId: string,
  { force, readHistories }: { force: boolean; readHistories: () => Promise<unknown> },
): Promise<Removal> {
  const { state } = await trust.organization();
  await readHistories().catch(isAway);
  const path = `/api/org/members/${encodeURIComponent(userId)}`;
  const { who } = await trust.self();
  const removed = `user:${userId}` as const;
  const rotate = await stillNaming(trust, removed, state.res);
  const isNaming = (res: string): boolean => rotate.some(({ kind, id }) => res === `${kind}:${id}`);
  const request = (): Promise<unknown> =>
    send({ method: "DELETE", path, query: force ? { force: "true" } : undefined });
  // A person who was removed before, and whose removal is not signed yet, is no error.
  await rememberEnded(trust.histories, [removed], isNaming, () => unlessGone(request, state, removed));
  const leaves = who === removed;
  if (leaves)
    await trust.histories.changeRecord((before) =>
      state.res === `org:${before.organization ?? ""}` ? { ...before, organization: undefined } : before,
    );
  if (leaves || holderOf(state, who)?.perm !== "manage") return { signed: false, rotate };
  return { signed: await signRemoval(send, trust, state, userId).catch(isAway), rotate };
}

/** Ending the access must not wait for the rest: the removal can be repeated to sign it. */
function isAway(error: unknown): false {
  if (error instanceof CofferError && (error.code === "unavailable" || error.code === "network")) return false;
  throw error;
}

/** Signs the drop of a former member. Returns false when the history does not name the person. */
export async function signRemoval(
  send: Send,
  trust: PersonTrust,
  organization: HistoryState,
  userId: string,
): Promise<boolean> {
  const { res } = organization;
  const who = `user:${userId}` as const;
  const cuts = Object.entries(await verifiedHeads(send, trust, organization, userId));
  let done = false;
  for (let from = 0; from === 0 || from < cuts.length; from += cutsInEntry) {
    done = await trust.sign(res, async ({ state }) => {
      const isFirst = from === 0;
      if (isFirst && holderOf(state, who) === undefined)
        return { change: undefined, send: () => Promise.resolve(false) };
      const drop = [who, ...(isFirst ? await deadInviteTags(send, state) : [])];
      return {
        change: { drop, cut: Object.fromEntries(cuts.slice(from, from + cutsInEntry)) },
        async send(entry) {
          await send({ method: "POST", path: "/api/org/history", body: { entry } });
          return true;
        },
      };
    });
    if (!done) return false;
  }
  return done;
}

async function headsOf(send: Send, userId: string): Promise<Cut> {
  const { body } = await send({ method: "GET", path: `/api/org/members/${encodeURIComponent(userId)}/heads` });
  return ((body ?? {}) as { data?: Cut }).data ?? {}; // the entry that it goes into is checked before it is sent
}

/**
 * How far a person's signatures count in each folder and vault: verified here where the caller
 * knows the history, or may read a folder's. A history that this device knows and the service does
 * not show is left out: devices then stop at their pins. For other vaults only the service's answer
 * exists; `restateCut` corrects a wrong one.
 */
async function verifiedHeads(send: Send, trust: PersonTrust, organization: HistoryState, userId: string): Promise<Cut> {
  const cut = await headsOf(send, userId);
  const known = await knownHeads(trust, organization.res, `user:${userId}`, cut);
  const folders = namedItems<FolderView>(dataOf(await send({ method: "GET", path: "/api/org/folders" })));
  for (const { id } of folders.filter((folder) => isUuid(folder.id))) {
    const res = `folder:${id}` as const;
    const name = await cutName(res);
    if (known.has(name) || !Object.hasOwn(cut, name)) continue;
    known.set(name, await shownHead(trust, res, organization));
  }
  // Without a valid history the service's entry does not count.
  for (const [name, head] of known)
    if (head === undefined) Reflect.deleteProperty(cut, name);
    else cut[name] = [head.seq, head.hash];
  return cut;
}

/**
 * The newest entries of an organization's folders and vaults that this device knows, by their names
 * in a `cut`; undefined for one that the service does not show.
 */
async function knownHeads(
  trust: PersonTrust,
  org: Resource,
  who: string,
  heads: Cut,
): Promise<Map<string, Head | undefined>> {
  const { resources } = await trust.histories.record();
  const known = new Map<string, Head | undefined>();
  for (const [key, { state }] of Object.entries(resources)) {
    const res = key as Resource; // a record has the names of histories
    const name = await cutName(res);
    const concerns = Object.hasOwn(heads, name) || (state !== null && concernsPerson(state, who));
    if (res.startsWith("org:") || !concerns || (state !== null && `org:${state.org ?? ""}` !== org)) continue;
    try {
      known.set(name, (await trust.histories.newest(res)).pin);
    } catch (error) {
      // The caller's access may have ended.
      const isGone = error instanceof CofferError && (error.code === "not_found" || error.code === "access_denied");
      if (!isGone) throw error;
      known.set(name, undefined);
    }
  }
  return known;
}

function concernsPerson({ holders, signers }: HistoryState, person: string): boolean {
  return [...holders, ...signers].some(({ who }) => who === person);
}

/**
 * The newest entry of a folder that the caller does not use, verified from entry 0 and against the
 * organization's history; undefined for a history that does not hold.
 */
async function shownHead(
  { histories }: PersonTrust,
  res: Resource,
  organization: HistoryState,
): Promise<Head | undefined> {
  try {
    return (await histories.examine(res, organization))?.head;
  } catch (error) {
    const isShown = error instanceof CofferError && (error.code === "network" || error.code === "unavailable");
    if (isShown || !(error instanceof CofferError || error instanceof HistoryError)) throw error;
    return undefined;
  }
}

/**
 * The caller's folders and vaults whose histories name a member or machine.
 * @param org only those of this organization, for a person who may be in another one too
 */
export async function stillNaming(trust: PersonTrust, who: string, org?: Resource): Promise<Removal["rotate"]> {
  const found = (await named(trust, org)).filter(({ holders }) => holders.includes(who));
  return found.map(({ kind, id, name }) => ({ kind, id, name }));
}

/** An accepted folder or vault with the holders in its history: `user:<id>`, `client:<id>`. */
export interface Named {
  kind: "folder" | "vault";
  id: string;
  name: string;
  holders: string[];
}

/** The accepted folders and vaults that this device knows. */
export async function named(trust: PersonTrust, org?: Resource): Promise<Named[]> {
  const { resources } = await trust.histories.record();
  return Object.values(resources).flatMap(({ state, accepted }) => {
    if (state === null || !accepted || state.org === null) return [];
    if (org !== undefined && org !== `org:${state.org}`) return [];
    const kind = kindOf(state.res);
    if (kind === "org") return [];
    return [
      { kind, id: state.res.slice(kind.length + 1), name: state.name, holders: state.holders.map(({ who }) => who) },
    ];
  });
}
