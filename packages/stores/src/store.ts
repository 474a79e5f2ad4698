/** A running server on loopback. */
export interface Store {
  /** Where clients connect, with the credentials in it. */
  readonly url: string;
  readonly port: number;
  readonly pid: number;
  /** Ends it in order. Resolves when no process of it is left. */
  stop(): Promise<void>;
  /** Ends it at once, as a crash would. */
  kill(): void;
  /** Calls `listener` once when the server is gone, whoever ended it. */
  onExit(listener: () => void): void;
}

/** A store could not be found or started. `message` is one line that says what to do. */
export class StoreError extends Error {
  constructor(message: string, options: { cause?: unknown } = {}) {
    super(message, options);
    this.name = "StoreError";
  }
}
