import type { StatelessBase } from "@coffer/service/stateless";
import type { Revocations, UserClaims } from "@coffer/tokens";
import type { Logger } from "@coffer/telemetry";
import type { Connections } from "./connections/connections.ts";
import type { Expiries } from "./connections/expiries.ts";
import type { ConnectionLimits } from "./connections/limit-connections.ts";
import type { Heartbeat } from "./connections/heartbeat.ts";
import type { SyncMetrics } from "./metrics.ts";
import type { CatchUp } from "./catch-up/catch-up.ts";
import type { Handshake } from "./opening/handshake.ts";
import type { FanOut } from "./pushes/fan-out.ts";
import type { Timings } from "./timings.ts";

/** The dependencies of every operation: its first argument. Built once, in service.ts. */
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
  /** Catch-up of records and vaults. */
  catchUp: CatchUp;
  folderCatchUp: CatchUp;
  /** Counts a sync request of a session in the bucket `user`. Never rejects. */
  admit(sessionId: string): ReturnType<StatelessBase["limiter"]["takeFor"]>;
  /** Limits concurrent requests to vaults. */
  requestSlots<T>(request: () => Promise<T>): Promise<T>;
  /** Limits concurrent answers to the devices of one person. */
  answerSlots<T>(userId: string, answer: () => Promise<T>): Promise<T>;
  /** `draining`: new connections are refused. */
  state: { draining: boolean };
}
