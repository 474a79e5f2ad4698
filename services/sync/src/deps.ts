import type { StatelessBase } from "@coffer/service/stateless";
import type { Revocations, UserClaims } from "@coffer/tokens";
import type { Logger } from "@coffer/telemetry";
import type { Connections } from "./connections/connections.ts";
import type { Expiries } from "./connections/expiries.ts";
import type { ConnectionLimits } from "./connections/limit-connections.ts";
import type { Heartbeat } from "./connections/heartbeat.ts";
import type { SyncMetrics } from "./metrics.ts";
import type { MissedNews } from "./news/missed-news.ts";
import type { Handshake } from "./opening/handshake.ts";
import type { FanOut } from "./pushes/fan-out.ts";
import type { Timings } from "./timings.ts";

/** All that an operation may use: its first argument. Built once, by hand, in service.ts. */
export interface Deps extends Pick<StatelessBase, "bus" | "authFailures"> {
  log: Logger;
  metrics: SyncMetrics;
  timings: Timings;
  newId(): string;
  /** Origins of browsers that may connect. */
  allowedOrigins: ReadonlySet<string>;
  /** Throws ServiceError `invalid_token`, caused by a TokenRejection, and `unavailable`. */
  verifyUser(token: string): Promise<UserClaims>;
  revocations: Revocations;
  handshake: Handshake;
  connections: Connections;
  limits: ConnectionLimits;
  heartbeat: Heartbeat;
  expiries: Expiries;
  fanOut: FanOut;
  /** Of records and vaults. */
  news: MissedNews;
  folderNews: MissedNews;
  /** Counts a sync request of a session, in the bucket `user`. Never rejects. */
  admit(sessionId: string): ReturnType<StatelessBase["limiter"]["takeFor"]>;
  /** Runs a question about changes when it is its turn. */
  turns<T>(question: () => Promise<T>): Promise<T>;
  /** Sends an answer to a person when it is the turn of one of their devices. */
  turnsByUser<T>(userId: string, answer: () => Promise<T>): Promise<T>;
  /** `draining`: no more connections are taken. */
  state: { draining: boolean };
}
