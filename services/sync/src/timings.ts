/** How long things take or may take, in milliseconds. */
export interface Timings {
  /** From one ping of a connection to the next. */
  ping: number;
  /** From the moment a ping is written until its pong must have come. */
  pong: number;
  /** For a fragment, or any other write, to be taken by the socket. */
  taken: number;
  /** From a `logout` to the close that follows it. */
  farewell: number;
  /** For the reason of a session's end to come, when it is known from elsewhere that it has ended. */
  reason: number;
  /** From one question for missed news to the next. */
  news: number;
  /** The same after one that was not answered. */
  newsAgain: number;
  /** Over which connections are closed when nobody knows any more what they missed. */
  startOver: number;
}

export const timings: Timings = {
  ping: 30_000,
  pong: 10_000,
  taken: 30_000,
  farewell: 5_000,
  reason: 1_000,
  news: 30_000,
  newsAgain: 1_000,
  startOver: 10_000,
};
