/** Intervals and timeouts, in milliseconds. */
export interface Timings {
  /** From one ping of a connection to the next. */
  ping: number;
  /** From the write of a ping to the deadline of its pong. */
  pong: number;
  /** For a fragment, or any other write, to be taken by the socket. */
  taken: number;
  /** From a `logout` to the close that follows it. */
  farewell: number;
  /** The wait for the reason, when a session's end is known from another source. */
  reason: number;
  /** From one catch-up to the next. */
  catchUp: number;
  /** From a failed catch-up to the next. */
  catchUpRetry: number;
  /** Over which all connections are closed when missed events are unknown. */
  startOver: number;
}

export const timings: Timings = {
  ping: 30_000,
  pong: 10_000,
  taken: 30_000,
  farewell: 5_000,
  reason: 1_000,
  catchUp: 30_000,
  catchUpRetry: 1_000,
  startOver: 10_000,
};
