// The session: how it begins, locks and ends, and what every screen knows of it.

/** `starting` until the worker has answered. */
export type Phase = "starting" | "signed-out" | "locked" | "unlocked";

export type Connection =
  | { kind: "connecting" }
  | { kind: "live" }
  /** `since`: Unix milliseconds of the last moment at which everything was known; null when never. */
  | { kind: "away"; since: number | null };

export interface VaultSummary {
  id: string;
  name: string;
  type: string;
  permission: string;
  safeForTravel: boolean;
  records: number;
  /** Why its key is not used, such as `not_accepted`; null when it is used. */
  problem: string | null;
}

/** A record as a list shows it, without secrets. */
export interface RecordSummary {
  id: string;
  vaultId: string;
  type: string;
  name: string;
  username: string;
  host: string;
  hasPassword: boolean;
  hasCode: boolean;
  updatedAt: string;
  /** The searchable text, without case and accents. */
  searched: string;
}

/** After so many minutes without a key or a click the session may lock. */
export const lockMinutes = [1, 5, 15, 30, 60] as const;

/** The choices for this browser. */
export interface Settings {
  /** Two letters; empty for the browser's own language. */
  language: string;
  lockMinutes: (typeof lockMinutes)[number];
  /** Whether single keys act, such as `c` for the password. */
  singleKeys: boolean;
  /**
   * The id of the organization that the screens are about; empty for the one that the person joined first.
   */
  organization: string;
}

/** A passkey that opens a session in this browser. */
export interface PasskeyView {
  /** The id of the credential, base64url. */
  id: string;
  /** What its PRF is asked for, base64url. */
  salt: string;
  /** By the person. */
  name: string;
  addedAt: string;
}

/** The answer of a passkey. */
export interface PasskeyAnswer {
  /** The id of the credential, base64url. */
  id: string;
  /** The output of its PRF, 32 bytes. */
  prf: ArrayBuffer;
}

export interface State {
  phase: Phase;
  user: { id: string; email: string; name: string | null } | null;
  /** Why there is no session any more, after one ended that the person did not end. */
  endedBecause: "revoked" | "attempts" | null;
  connection: Connection;
  vaults: VaultSummary[];
  settings: Settings;
  /** Of the person; while no one is signed in, of all that have one here. */
  passkeys: PasskeyView[];
}

/** Each optional text is empty when it is not given. */
export interface NewAccount {
  email: string;
  password: string;
  name: string;
  organization: string;
  invitation: string;
}

export interface SessionCalls {
  /** `code`: the account has a second factor; `giveCode` goes on. */
  signIn(input: { email: string; password: string }): "done" | "code";
  giveCode(code: string): "done" | "code";
  /**
   * Sets a new password with the recovery key, and makes another recovery key. The account is not used before
   * `keptRecoveryKey`. Fails with `code_needed` when the account has a second factor and `code` is empty.
   */
  recover(input: { email: string; recoveryKey: string; newPassword: string; code: string }): { recoveryKey: string };
  /** The new account is not used before `keptRecoveryKey`. */
  register(input: NewAccount): { recoveryKey: string };
  /**
   * Begins the session of `recover` or `register`. The page sends the recovery key that it got there.
   */
  keptRecoveryKey(recoveryKey: string): null;
  unlock(password: string): null;
  /** Opens the session that the passkey has sealed. Fails with `passkey_refused` when it opens none. */
  unlockPasskey(answer: PasskeyAnswer): null;
  /** The salt for a new passkey. Fails with `wrong_password`, and counts as `unlock` does. */
  startPasskey(password: string): { salt: string };
  /** The passkey that was made with this salt. Replaces the one before. */
  addPasskey(input: PasskeyAnswer & { name: string }): null;
  /** Of the person; while no one is signed in, all, with the copies of their vaults. */
  removePasskeys(): null;
  lock(): null;
  signOut(): null;
  /** The person does something: puts off the idle lock. */
  touch(): null;
  changeSettings(part: Partial<Settings>): null;
}
