/** The part of a tap test that the testkit uses. */
export interface TestScope {
  teardown(work: () => unknown): unknown;
}

/** A server of the test, which it may break. The address stays the same. */
export interface TestServer {
  readonly url: string;
  /** Stops it in order. */
  stop(): Promise<void>;
  /** Kills it, like a crash. */
  kill(): Promise<void>;
  /** Starts it again, on the same port and data. */
  start(): Promise<void>;
}
