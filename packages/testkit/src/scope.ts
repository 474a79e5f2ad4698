/** The part of a tap test that the testkit uses. */
export interface TestScope {
  teardown(work: () => unknown): unknown;
}

/** A server of the test's own that it may break. The address stays the same from one start to the next. */
export interface TestServer {
  readonly url: string;
  /** Ends it in order. */
  stop(): Promise<void>;
  /** Ends it as a crash would. */
  kill(): Promise<void>;
  /** Starts it again, on the same port and data. */
  start(): Promise<void>;
}
