import type { Bus } from "@coffer/bus";
import type { Database } from "@coffer/postgres";
import type { Counter } from "@coffer/telemetry";
import type { Revocations, UserClaims } from "@coffer/tokens";

/** All that an operation may use: its first argument. Built once, by hand, in service.ts. */
export interface Deps {
  database: Database;
  bus: Bus;
  /** `coffer_auth_failures_total`, by why. */
  authFailures: Counter<"reason">;
  /** Verifies a person's access token. */
  verifyUser(token: string): Promise<UserClaims>;
  /** Which sessions have ended before their tokens. */
  revocations: Revocations;
}
