import { type Context, keyCheck, newKey } from "@coffer/crypto";
import { type Change, type HistoryState, type HolderId, holderOf } from "@coffer/history";
import type { Send } from "../http/transport.ts";
import { dataOf } from "../http/list-answer.ts";
import { confirmedKey, labelOf, sealToHolder } from "../trust/confirmed-key.ts";
import { requireEnded } from "../trust/ended.ts";
import type { MemberView } from "../views.ts";
import type { Verified } from "./histories.ts";
import { holderParts } from "./holder-parts.ts";

/** A member or machine in the report of a rotation. */
export interface RotationHolder {
  kind: "user" | "client";
  id: string;
  /** The e-mail from the organization's history; for a machine the name that the service shows. */
  name: string;
}

/** The effect of a rotation on members and machines. */
export interface RotationReport {
  /** The new key was sealed to these. */
  sealed_to: RotationHolder[];
  /** The service lists them, but nothing was sealed: suspended, or not confirmed by the history. */
  left_out: RotationHolder[];
  /** The history no longer names these. */
  dropped: RotationHolder[];
}

/** The next key of a folder or vault. */
export interface NextKey {
  key: Uint8Array;
  version: number;
  /** The changes of the entry. */
  change: Change;
  /** For every listed member and machine: the new key, null where nothing may be sealed. */
  sealed: { kind: "user" | "client"; id: string; encrypted_key: string | null }[];
  report: RotationReport;
  /** Whether the history names unlisted members or machines still: one entry has room for 600. */
  more: boolean;
}

/** 28 KB of an entry of 64 KiB, beside the dead invitations. */
const mostHolders = 600;

export interface NextKeyRequest {
  send: Send;
  /** The rotating person in the form of histories. */
  self: string;
  /** The newest states of the organization's history, and of the folder's or vault's. */
  organization: HistoryState;
  trusted: Verified;
  /** The members and machines as the service lists them. */
  listed: readonly RotationHolder[];
  /** The context of keys that are sealed to a public key. */
  context: Context;
  /** Invitations to drop. */
  deadTags?: readonly string[];
}

/**
 * Makes a new key, sealed to every listed member and machine that the history confirms. Drops
 * unlisted ones from the history, and the invitations of `deadTags`. The caller gets the key even
 * if the service shows the caller as suspended: a key without an owner would lose the folder.
 * Throws CofferError `holder_unconfirmed` when the service lists a member or machine whose access
 * the caller has ended.
 */
export async function nextKey(request: NextKeyRequest): Promise<NextKey> {
  const { send, self, organization, trusted, listed, context, deadTags = [] } = request;
  const { state } = trusted;
  requireEnded(trusted, listed);
  const key = newKey();
  const version = (state.ver ?? 0) + 1;
  const suspended = await suspendedMembers(send, organization);
  const sealed: NextKey["sealed"] = [];
  const report: RotationReport = { sealed_to: [], left_out: [], dropped: [] };
  for (const { kind, id, name } of listed) {
    const who = `${kind}:${id}`;
    const mayHave = who === self || !suspended.has(id);
    const confirmed = mayHave ? await confirmedKey(organization, trusted, who) : undefined;
    const encryptedKey = confirmed === undefined ? null : await sealToHolder(confirmed, key, context);
    const label = kind === "user" ? labelOf(organization, who) : name;
    (encryptedKey === null ? report.left_out : report.sealed_to).push({ kind, id, name: label });
    sealed.push({ kind, id, encrypted_key: encryptedKey });
  }
  const all = endedHolders(state, listed);
  // People first: a machine that is gone matters less.
  const ended = [...all].sort((one, other) => Number(isMachine(one)) - Number(isMachine(other))).slice(0, mostHolders);
  report.dropped = ended.map((who) => {
    const { kind, id } = holderParts(who);
    return { kind, id, name: holderOf(organization, who)?.email ?? id };
  });
  const drop = [...ended, ...deadTags];
  return {
    key,
    version,
    change: { drop, ver: version, check: await keyCheck(key, state.res, version) },
    sealed,
    report,
    more: all.length > mostHolders,
  };
}

const isMachine = (who: HolderId): boolean => who.startsWith("client:");

/** The members and machines that the history names and the service no longer lists. */
export function endedHolders(state: HistoryState, listed: readonly { kind: string; id: string }[]): HolderId[] {
  const present = new Set(listed.map(({ kind, id }) => `${kind}:${id}`));
  return state.holders.map(({ who }) => who).filter((who) => !present.has(who));
}

async function suspendedMembers(send: Send, organization: HistoryState): Promise<Set<string>> {
  const headers = { "x-coffer-org": organization.res.slice("org:".length) };
  const members = dataOf<MemberView>(await send({ method: "GET", path: "/api/org/members", headers }));
  return new Set(members.filter(({ status }) => status === "suspended").map(({ user_id }) => user_id));
}
