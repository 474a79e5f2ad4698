/** The changes of a record that devices receive. */
export const recordActions = ["record_created", "record_updated", "record_deleted"] as const;

/** The changes of a vault that devices receive. `vault_deleted` also means that access ended. */
export const vaultActions = ["vault_created", "vault_updated", "vault_deleted"] as const;

/** The actions of a `push` message, for people and for machines. */
export const pushActions = [...recordActions, ...vaultActions, "folder_updated", "logout"] as const;

export type PushAction = (typeof pushActions)[number];

/** The content of `folder_updated`. */
export const folderChanges = ["metadata", "membership", "key", "secrets"] as const;

export type FolderChange = (typeof folderChanges)[number];

/** Why a session ended, in `logout` and in the reason of a closed connection. */
export const revocationReasons = [
  "logged_out",
  "admin_revoked",
  "user_revoked",
  "password_changed",
  "second_factor_changed",
  "token_reused",
  "member_removed",
  "member_suspended",
] as const;

export type RevocationReason = (typeof revocationReasons)[number];
