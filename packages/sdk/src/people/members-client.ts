import type { Role } from "@coffer/contract";
import type { Fingerprint } from "@coffer/crypto";
import { CofferError } from "../errors.ts";
import { confirmMember } from "../histories/confirm-member.ts";
import { closeInvitations, type ClosedInvitation, removeInvitation } from "../histories/close-invitations.ts";
import {
  acceptInvitation,
  inviteMember,
  type ProveJoin,
  type ShownInvitation,
  shownInvitation,
} from "../histories/invite-member.ts";
import { updateMember } from "../histories/organization.ts";
import { type Removal, removeMember } from "../histories/remove-member.ts";
import { restateCut } from "../histories/restate-cut.ts";
import type { InviteView, MemberView, OrganizationView, SessionListItem, TravelModeView } from "../views.ts";
import type { PersonContext } from "./person-context.ts";
import { type ConfirmKey, publicKeyOf } from "./public-key.ts";
import { travelModeOf } from "./travel-mode.ts";

/** The members of an organization. */
export interface MembersClient {
  list(): Promise<MemberView[]>;
  /** Fields that are not given are not changed. */
  update(
    userId: string,
    change: { role?: Role | undefined; status?: MemberView["status"] | undefined },
  ): Promise<MemberView>;
  /**
   * Ends the person's access at once, and signs it as far as the caller may. With the caller's
   * own id, leaves. The folders and vaults in the result must be rotated. `force` also removes
   * the only manager of some, which is otherwise a `conflict`.
   */
  remove(userId: string, options?: { force?: boolean | undefined }): Promise<Removal>;
  /**
   * Corrects how far a former member's signatures count in a folder or vault, where the service
   * named a wrong entry at the removal. `entry` is the newest that its users have verified; by
   * default this device's.
   */
  restateCut(
    userId: string,
    resource: { kind: "folder" | "vault"; id: string },
    entry?: { seq: number; hash: string },
  ): Promise<{ seq: number; hash: string }>;
  /**
   * Signs that a member's key is the one that the service shows, after the words were compared.
   */
  confirm(userId: string, confirm: ConfirmKey): Promise<void>;
  /**
   * The members that the organization's history names. With `folder`, an id, those of the
   * organization that the folder's history names.
   */
  confirmed(options?: {
    folder?: string | undefined;
  }): Promise<{ user_id: string; email: string; public_key: string }[]>;
  sessions(userId: string): Promise<SessionListItem[]>;
  /** Ends one session of a member; all without an id. */
  endSessions(userId: string, sessionId?: string): Promise<void>;
  /** Switches a member's travel mode, as an administrator. */
  setTravel(userId: string, enabled: boolean): Promise<TravelModeView>;
  /** The person's public key, with the fingerprint to compare. */
  publicKey(userId: string): Promise<{ public_key: string; fingerprint: Fingerprint }>;
}

/** The invitations to an organization. */
export interface InvitesClient {
  list(): Promise<InviteView[]>;
  /** `token` is for the invited person. It is returned only once. */
  create(email: string, role: Role): Promise<InviteView & { token: string }>;
  /**
   * Revokes it, and closes it in the organization's history, with other open ones to its e-mail.
   * Returns what was closed. `email` is what the person was shown: the service could list another
   * one under the id now.
   */
  remove(id: string, options?: { email?: string | undefined }): Promise<ClosedInvitation[]>;
  /**
   * Closes the invitations to an e-mail in the organization's history, also those that the service
   * does not list.
   */
  close(email: string): Promise<ClosedInvitation[]>;
  /**
   * The organization and the inviter, as the invitation proves them. Joins nothing. `no_history`
   * when it proves nothing.
   */
  show(token: string): Promise<ShownInvitation>;
  /** Joins the organization of an invitation to the caller's e-mail. */
  accept(token: string, options?: { prove?: ProveJoin | undefined }): Promise<OrganizationView>;
}

const member = (userId: string): string => `/api/org/members/${encodeURIComponent(userId)}`;

export function membersClient({ api, trust, secrets, vaults }: PersonContext): MembersClient {
  const { send, list, remove } = api;
  return {
    list: () => list("/api/org/members"),
    update: (userId, change) => updateMember(send, trust, userId, change),
    remove: (userId, { force = false } = {}) =>
      removeMember(send, trust, userId, {
        force,
        readHistories: () => Promise.all([secrets.listed(), vaults.list()]),
      }),
    restateCut: (userId, { kind, id }, entry) => restateCut(send, trust, userId, `${kind}:${id}`, entry),
    async confirm(userId, confirm) {
      const members = await list<MemberView>("/api/org/members");
      const found = members.find(({ user_id }) => user_id === userId);
      if (found === undefined) throw new CofferError("not_found", `there is no member ${userId} that you may see`);
      await confirmMember(send, trust, found, confirm);
    },
    async confirmed({ folder } = {}) {
      const { state } = await (folder === undefined ? trust.organization() : trust.organizationOf(`folder:${folder}`));
      return state.holders.map(({ who, email = "", key }) => ({ user_id: who.slice(5), email, public_key: key }));
    },
    sessions: (userId) => list(`${member(userId)}/sessions`),
    endSessions: (userId, sessionId) =>
      remove(`${member(userId)}/sessions${sessionId === undefined ? "" : `/${encodeURIComponent(sessionId)}`}`),
    setTravel: async (userId, enabled) =>
      travelModeOf(await send({ method: "PUT", path: `${member(userId)}/travel-mode`, body: { enabled } }), enabled),
    publicKey: (userId) => publicKeyOf(send, userId),
  };
}

export function invitesClient({ api, trust, current }: PersonContext): InvitesClient {
  const { send, list } = api;
  return {
    list: () => list("/api/org/invites"),
    create: (email, role) => inviteMember(send, trust, email, role),
    remove: (id, { email } = {}) => removeInvitation(send, trust, id, email),
    close: (email) => closeInvitations(send, trust, email),
    show: (token) => shownInvitation(send, trust, token),
    accept: async (token, { prove } = {}) => acceptInvitation(send, trust, await current(), token, prove),
  };
}
