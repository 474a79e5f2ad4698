/** A page of the changes since a moment. */
export interface CatchUpPage {
  /** The moment up to which all pages together are complete. */
  readonly until: string;
  /** The changes since then are unknown. */
  readonly reset: boolean;
  /** The cursor of the next page; null on the last one. */
  readonly after: string | null;
  /** Pushes the changes that were not pushed. Rejects if the audience is unknown. */
  push(): Promise<unknown>;
}

/** A source of changes for catch-up. */
export interface CatchUpSource {
  /** The subject, for the log. */
  readonly about: string;
  /** Whether answers contain its changes; then it is available whenever answers are. */
  readonly inAnswers: boolean;
  /** `since` null: only the present moment. Rejects while the source is away. */
  read(since: string | null, after: string | null): Promise<CatchUpPage>;
  /** Drops the memory of pushes from before the previous call. */
  rotate(): void;
}
