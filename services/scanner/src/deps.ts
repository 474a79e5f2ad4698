import type { StatelessBase, Users } from "@coffer/service/stateless";
import type { Pool } from "./pool/pool.ts";

/** All that an operation may use: its first argument. Built once, by hand, in service.ts. */
export interface Deps extends Pick<StatelessBase, "bus" | "telemetry" | "now"> {
  newId(): string;
  /** Which person calls. */
  users: Users;
  /** The threads that scan. */
  scans: Pool;
}
