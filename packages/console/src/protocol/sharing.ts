// Folders and vaults that several hold.

export interface OfferView {
  name: string;
  from: string;
  organization: string | null;
  /** Whether the person uses another one of that name, which the service could hide. */
  isTaken: boolean;
}

export type Permission = "read" | "write" | "manage";

/** A folder or vault that several may hold. */
export interface Shared {
  kind: "folder" | "vault";
  id: string;
}

export interface HolderView {
  kind: "user" | "client";
  id: string;
  /**
   * The e-mail in the organization's history. For a machine, and for a member that the history does not
   * name, it is the name that the service shows.
   */
  name: string;
  permission: Permission;
  /** Why the member has no key; null when the member has it. */
  problem: "holder_unconfirmed" | "key_pending" | null;
  /** The member's access has ended, and the history will say so with the next rotation. */
  ended: boolean;
}

export interface SharingView {
  holders: HolderView[];
  /** Who could get it: members of its organization by the history. Empty unless the person manages it. */
  colleagues: { id: string; email: string }[];
}

/** The failures of a rotation. */
export interface Rotated {
  /** Members and machines who did not get it. */
  without: string[];
  /** Secrets that could not be opened, and are sealed under no new key. */
  unopened: string[];
}

/** A folder or vault that needs a new key: its history still names a removed member or machine. */
export interface ToRotate extends Shared {
  name: string;
}

export interface SharingCalls {
  offer(shared: Shared): OfferView;
  /** `name`: the one that the person was shown. */
  acceptOffer(shared: Shared & { name: string }): null;
  sharing(shared: Shared): SharingView;
  /** Gives a member the folder or vault, or changes the permission. */
  share(input: Shared & { userId: string; permission: Permission }): SharingView;
  /** Ends a member's access and gives the folder or vault a new key. */
  unshare(input: Shared & { userId: string }): { sharing: SharingView; rotated: Rotated };
  rotate(shared: Shared): Rotated;
  rename(input: Shared & { name: string }): null;
  /** Deletes it with all that it holds. */
  remove(shared: Shared): null;
}
