import type { Claims, Holder, HolderId, Invitation } from "./claims.ts";
import { HistoryError } from "./history-error.ts";
import type { Entry } from "./read-entry.ts";
import type { FormerMember, HistoryState, OpenInvitation, Signer } from "./state.ts";
import { holderOf, isManager, kindOf } from "./state.ts";

/** The state after an entry, and the key that must have signed the entry. */
export interface Applied {
  state: HistoryState;
  signedWith: string;
}

/** The person who is responsible for an entry, and the key that must have signed it. */
interface Authority {
  who: HolderId;
  key: string;
  signedWith: string;
}

/**
 * Applies an entry to the state before it. Checks its position, its signer's right and its changes.
 * The caller must verify the signature with the returned key.
 * @param before null for entry 0
 * @throws HistoryError `history_invalid`
 */
export function apply(before: HistoryState | null, { claims, hash }: Entry): Applied {
  const seq = before === null ? 0 : before.head.seq + 1;
  const refuse = (why: string): HistoryError =>
    new HistoryError("history_invalid", `entry ${seq} of the history of ${claims.res} is not valid: ${why}`, {
      res: claims.res,
      seq,
    });
  requirePlace(before, claims, refuse);
  requireKindOfClaims(before, claims, refuse);
  const authority = before === null ? founder(claims, refuse) : authorityOf(before, claims, refuse);
  const holders = nextHolders(before, claims, refuse);
  const after: HistoryState = {
    res: claims.res,
    org: before?.org ?? claims.org ?? null,
    head: { seq: claims.seq, hash },
    name: claims.name ?? before?.name ?? "",
    ver: claims.ver ?? before?.ver ?? null,
    check: claims.check ?? before?.check ?? null,
    holders,
    invitations: [],
    set_at: kindOf(claims.res) === "org" ? {} : nextSetAt(before, claims),
    signers: kindOf(claims.res) === "org" ? [] : nextSigners(before, authority, claims.seq),
    former: nextFormer(before, claims),
    last_signer: claims.by,
  };
  if (!holders.some(({ perm }) => perm === "manage")) throw refuse("it leaves the resource without a manager");
  // A person who is no longer a manager has no open invitation.
  after.invitations = nextInvitations(before, claims, authority, refuse).filter(({ by }) => isManager(after, by));
  return { state: after, signedWith: authority.signedWith };
}

type Refuse = (why: string) => HistoryError;

function requirePlace(before: HistoryState | null, { res, seq, prev }: Claims, refuse: Refuse): void {
  if (before !== null && res !== before.res) throw refuse("it belongs to another history");
  if (seq !== (before === null ? 0 : before.head.seq + 1)) throw refuse("it is not the next entry");
  if (prev !== (before === null ? null : before.head.hash)) throw refuse("it does not follow the entry before it");
}

/** The claims that an entry may have, by the kind of its history and its position. */
function requireKindOfClaims(before: HistoryState | null, claims: Claims, refuse: Refuse): void {
  const kind = kindOf(claims.res);
  const { set = [], invite = [], drop = [] } = claims;
  if ((claims.org !== undefined) !== (before === null && kind !== "org"))
    throw refuse("`org` belongs into the first entry of a folder or vault, and nowhere else");
  if (before === null && claims.name === undefined) throw refuse("the first entry has no name");
  if (before === null && claims.drop !== undefined) throw refuse("the first entry drops something");
  if ((claims.ver === undefined) !== (claims.check === undefined)) throw refuse("`ver` and `check` go together");
  if (kind === "org" && claims.ver !== undefined) throw refuse("an organization has no key");
  if (kind !== "org" && before === null && claims.ver === undefined) throw refuse("the first entry names no key");
  if (claims.ver !== undefined && before !== null && claims.ver !== (before.ver ?? 0) + 1)
    throw refuse("`ver` is not the next version");
  if (drop.some((one) => !one.startsWith("invite:")) && kind !== "org" && claims.ver === undefined)
    throw refuse("it drops a holder without a new key");
  if (!set.every((holder) => isHolderIn(kind, holder))) throw refuse("`set` names a holder that cannot be one here");
  if (!invite.every((one) => isInvitationIn(kind, one))) throw refuse("it invites in a way that is not possible here");
  if (claims.cut !== undefined && (kind !== "org" || droppedPerson(claims) === null))
    throw refuse("`cut` goes with the drop of one person from an organization");
}

function isHolderIn(kind: "org" | "folder" | "vault", { who, perm, email }: Holder): boolean {
  const isUser = who.startsWith("user:");
  if (kind === "org") return isUser && email !== undefined && perm !== "write";
  return email === undefined && (isUser || (kind === "folder" && perm !== "manage"));
}

function isInvitationIn(kind: "org" | "folder" | "vault", { kind: invited, perm, email }: Invitation): boolean {
  if (kind === "org") return invited === "user" && email !== undefined && perm !== "write";
  return kind === "folder" && invited === "client" && email === undefined && perm !== "manage";
}

/** The signer of entry 0 must be a manager that the entry itself sets. */
function founder({ by, set = [] }: Claims, refuse: Refuse): Authority {
  const self = set.find(({ who }) => who === by);
  if (self?.perm !== "manage") throw refuse("its signer is not set as a manager by it");
  return { who: self.who, key: self.key, signedWith: self.key };
}

function authorityOf(before: HistoryState, claims: Claims, refuse: Refuse): Authority {
  const { by } = claims;
  if (by.startsWith("user:")) {
    const holder = holderOf(before, by);
    if (holder?.perm !== "manage") throw refuse("its signer does not manage the resource");
    return { who: holder.who, key: holder.key, signedWith: holder.key };
  }
  const invitation = before.invitations.find(({ tag }) => by === `invite:${tag}`);
  if (invitation === undefined) throw refuse("its invitation is not open");
  requireJoin(before, claims, invitation, refuse);
  return { who: invitation.by, key: invitation.by_key, signedWith: invitation.join_key };
}

/**
 * A join is exactly one `set`, of exactly the invited person or machine, who must not be in the
 * history yet.
 */
function requireJoin(before: HistoryState, claims: Claims, invitation: OpenInvitation, refuse: Refuse): void {
  const { res, seq, prev, by, set = [], ...others } = claims;
  const [joiner] = set;
  if (joiner === undefined || set.length > 1 || Object.keys(others).length > 0)
    throw refuse("a join sets one holder and changes nothing else");
  const asInvited =
    joiner.who.startsWith(`${invitation.kind}:`) &&
    joiner.perm === invitation.perm &&
    joiner.email === invitation.email;
  if (!asInvited) throw refuse("it joins another person or machine than the invited one");
  if (holderOf(before, joiner.who) !== undefined) throw refuse("the joining one holds the resource already");
}

function nextHolders(before: HistoryState | null, claims: Claims, refuse: Refuse): Holder[] {
  const { set = [], drop = [] } = claims;
  const holders = new Map((before?.holders ?? []).map((holder) => [holder.who as string, holder]));
  if (new Set(drop).size !== drop.length) throw refuse("it drops something twice");
  for (const dropped of drop.filter((one) => !one.startsWith("invite:"))) {
    if (!holders.delete(dropped) && !statesCutAgain(before, claims))
      throw refuse("it drops a person or machine that is not in the history");
  }
  if (new Set(set.map(({ who }) => who)).size !== set.length) throw refuse("it sets a person or machine twice");
  if (set.some(({ who }) => drop.includes(who))) throw refuse("it sets and drops the same holder");
  for (const holder of set) holders.set(holder.who, holder);
  return [...holders.values()].sort((one, other) => (one.who < other.who ? -1 : 1));
}

function nextInvitations(
  before: HistoryState | null,
  { by, seq, prev, drop = [], invite = [] }: Claims,
  { who, key }: Authority,
  refuse: Refuse,
): OpenInvitation[] {
  const open = new Map((before?.invitations ?? []).map((one) => [one.tag, one]));
  if (by.startsWith("invite:")) open.delete(by.slice("invite:".length));
  for (const dropped of drop.filter((one) => one.startsWith("invite:")))
    if (!open.delete(dropped.slice("invite:".length))) throw refuse("it drops an invitation that is not open");
  for (const invitation of invite) {
    if (open.has(invitation.tag)) throw refuse("it opens an invitation that is open");
    open.set(invitation.tag, { ...invitation, by: who, by_key: key, seq, prev });
  }
  return [...open.values()];
}

function nextSetAt(before: HistoryState | null, { seq, set = [], drop = [] }: Claims): HistoryState["set_at"] {
  const kept = Object.entries(before?.set_at ?? {}).filter(([who]) => !drop.includes(who));
  const people = set.filter(({ who }) => who.startsWith("user:"));
  return Object.fromEntries([...kept, ...people.map(({ who }) => [who, seq] as const)]);
}

function nextSigners(before: HistoryState | null, { who, key }: Authority, seq: number): Signer[] {
  const since = before?.set_at[who] ?? 0;
  const others = (before?.signers ?? []).filter((one) => one.who !== who || one.key !== key || one.since !== since);
  return [...others, { who, key, since, seq }];
}

/** Whether an entry only changes the `cut` of a former member. */
function statesCutAgain(
  before: HistoryState | null,
  { res, seq, prev, by, cut, drop = [], ...others }: Claims,
): boolean {
  const isFormer = before?.former.some(({ who }) => who === drop[0]) === true;
  return isFormer && cut !== undefined && drop.length === 1 && Object.keys(others).length === 0;
}

/** A later cut keeps the values of the histories that it does not name. */
function nextFormer(before: HistoryState | null, claims: Claims): FormerMember[] {
  const former = before?.former ?? [];
  if (before === null || kindOf(claims.res) !== "org") return former;
  return (claims.drop ?? []).reduce<FormerMember[]>((all, dropped) => {
    const holder = holderOf(before, dropped);
    if (holder === undefined)
      return all.map((one) => (one.who === dropped ? { ...one, cut: { ...one.cut, ...claims.cut } } : one));
    const isSame = ({ who, key }: FormerMember): boolean => who === holder.who && key === holder.key;
    const cut = { ...all.find(isSame)?.cut, ...claims.cut };
    return [...all.filter((one) => !isSame(one)), { who: holder.who, key: holder.key, cut }];
  }, former);
}

/** The only person that an entry drops; null for none or several. */
function droppedPerson({ drop = [] }: Claims): HolderId | null {
  const people = drop.filter((one) => one.startsWith("user:"));
  return people.length === 1 ? (people[0] as HolderId) : null; // the prefix was looked at
}
