// The signed histories that this browser trusts.

/** An organization, folder or shared vault, whose history its managers sign. */
export interface HistoryName {
  kind: "org" | "folder" | "vault";
  id: string;
  name: string;
}

export interface HistoryView extends HistoryName {
  /** How many entries this browser has verified; 0 for none. */
  entries: number;
  /** Why nothing of it is used, such as `history_rolled_back`; null when it is used. */
  problem: string | null;
}

export interface TrustView {
  histories: HistoryView[];
  /** Why this browser does not use what the person's devices share about histories; null when it does. */
  keyring: string | null;
}

/** A history as the service shows it now, before it is trusted. */
export interface ShownHistory {
  res: string;
  name: string;
  /** The e-mail of the newest signer, and the fingerprint of the key: six words. */
  signer: string;
  words: string;
  /** An entry that this browser has seen and that it does not have, and the newest one that is shown. */
  back: { seen: number; shown: number } | null;
}

export interface TrustCalls {
  trust(): TrustView;
  /** What `trustShown` would trust: one history, or with null all that the service shows. */
  shownHistories(one: HistoryName | null): ShownHistory[];
  /**
   * Trusts what the person has compared. Fails with `access_denied` if the service shows something else
   * now.
   */
  trustShown(input: { one: HistoryName | null; compared: ShownHistory[] }): TrustView;
}
