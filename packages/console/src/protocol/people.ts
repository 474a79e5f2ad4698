// Organizations and their members.

import type { SessionView } from "./account.ts";
import type { ToRotate } from "./sharing.ts";

/** An invitation as the signed history of the organization has it. */
export interface InvitationView {
  organization: string;
  from: string;
  /** Whether it is for the person's own e-mail. */
  isYours: boolean;
}

export type Role = "owner" | "admin" | "member" | "auditor";

/** A member as an administrator sees them. */
export interface PersonDetail {
  id: string;
  /** The fingerprint of the member's key: six words. */
  words: string;
  /**
   * Whether the organization's history names the key. `changed`: the service shows a different key than
   * the history.
   */
  key: "confirmed" | "unconfirmed" | "changed";
  sessions: SessionView[];
  /** The folders and vaults, of those that this browser knows, that name the person. */
  holds: ToRotate[];
}

export interface PersonView {
  id: string;
  /** From the organization's history. The service's word for an unconfirmed member, and without a history. */
  email: string;
  name: string;
  role: Role;
  status: "active" | "suspended";
  /**
   * `unconfirmed`: the history does not name the member. `ended`: the history names a person that the
   * service does not list: the removal must be signed.
   */
  problem: "unconfirmed" | "ended" | null;
}

export interface PeopleView {
  /** The name of the organization; null without one. */
  organization: string | null;
  /** Whether the person may invite, change roles and remove. */
  mayManage: boolean;
  members: PersonView[];
  invitations: { id: string; email: string; role: Role; expiresAt: string }[];
}

/** The person's organizations, under the names of their histories. */
export interface OrganizationsView {
  organizations: { id: string; name: string }[];
  /** The id of the one that the screens are about; null without one. */
  current: string | null;
}

export interface OrganizationView {
  /** The one that the screens are about; null without one. */
  current: { id: string; name: string; role: string; plan: string; createdAt: string } | null;
  /** The newest events of billing. Empty for who may not read the audit. */
  billing: { seq: number; time: string; action: string; outcome: "success" | "denied" | "failure" }[];
}

export interface PeopleCalls {
  people(): PeopleView;
  /** `invitation` is for the invited person, and is shown once. */
  invite(input: { email: string; role: Role }): { people: PeopleView; invitation: string };
  withdraw(input: { id: string; email: string }): PeopleView;
  setRole(input: { userId: string; role: Role }): PeopleView;
  removeMember(userId: string): { people: PeopleView; rotate: ToRotate[] };
  person(userId: string): PersonDetail;
  /** Signs the member's key with the e-mail and role that the person has seen, if it has these words. */
  confirmMember(input: { userId: string; email: string; role: Role; words: string }): PersonDetail;
  /** `sessionId`: null ends all. */
  endMemberSession(input: { userId: string; sessionId: string | null }): PersonDetail;
  setMemberStatus(input: { userId: string; status: PersonView["status"] }): PeopleView;
  setMemberTravel(input: { userId: string; enabled: boolean }): null;
  /** What the invitation itself proves; null when nothing does. */
  invitation(invitation: string): InvitationView | null;
  /** Joins the organization of an invitation. Its name. */
  join(invitation: string): string;
  organizations(): OrganizationsView;
  organization(): OrganizationView;
  createOrganization(name: string): OrganizationView;
}
