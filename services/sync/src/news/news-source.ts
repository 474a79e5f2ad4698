/** A part of what has happened since a moment. */
export interface NewsPart {
  /** Up to when the whole answer tells everything. */
  readonly until: string;
  /** It is not known any more what has happened since then. */
  readonly reset: boolean;
  /** What the next part is asked for with; null: this is the last. */
  readonly after: string | null;
  /** Pushes what is in it, as far as it was not pushed. Rejects when it is not known who may know. */
  tell(): Promise<unknown>;
}

/** Where one asks for what events may not have told. */
export interface NewsSource {
  /** What about, as a word of the log. */
  readonly about: string;
  /** Whether answers to devices hold what it tells: then it can be asked whenever an answer can be given. */
  readonly inAnswers: boolean;
  /** `since` null: only the present moment. Rejects while nobody answers. */
  ask(since: string | null, after: string | null): Promise<NewsPart>;
  /** A while has passed: what was pushed longer ago than the last while is not known any more. */
  turn(): void;
}
