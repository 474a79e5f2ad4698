/** A running server on loopback. */
export interface Store {
  /** The address for clients, with the credentials. */
  readonly url: string;
  readonly port: number;
  readonly pid: number;
  /** Stops it in order. Resolves when none of its processes is left. */
  stop(): Promise<void>;
  /** Kills it, like a crash. */
  kill(): void;
  /** Calls `listener` once when the server has ended. */
  onExit(listener: () => void): void;
}

/** A store could not be found or started. `message` is one line of advice. */
export class StoreError extends Error {
  constructor(message: string, options: { cause?: unknown } = {}) {
    super(message, options);
    this.name = "StoreError";
  }
}
