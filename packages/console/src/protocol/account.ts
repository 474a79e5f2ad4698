// The person's own account.

/** The proof of the person, once more. `code` is empty until one is asked for. */
export interface Proof {
  password: string;
  code: string;
}

export interface SessionView {
  id: string;
  name: string;
  lastUsedAt: string;
  ip: string | null;
  current: boolean;
}

/** `start_again`: after too many wrong codes. */
export type ConfirmedFactor =
  | {
      /** Each counts once. */
      recoveryCodes: string[];
    }
  | { refused: "wrong_code" | "start_again" };

export interface AccountView {
  hasSecondFactor: boolean;
  /** The fingerprint of the person's own key: six words. */
  words: string;
  sessions: SessionView[];
}

/** Those with a Proof fail with `code_needed` when the account has a second factor and `code` is empty. */
export interface AccountCalls {
  account(): AccountView;
  /** Null ends all but this one. */
  endSession(id: string | null): AccountView;
  startSecondFactor(proof: Proof): { secret: string; address: string };
  /** Switches it on. */
  confirmSecondFactor(code: string): ConfirmedFactor;
  stopSecondFactor(proof: Proof): AccountView;
  /** `recoveryKey` is the new one, when it was asked for. */
  changePassword(input: Proof & { newPassword: string; newRecoveryKey: boolean }): { recoveryKey: string | null };
}
