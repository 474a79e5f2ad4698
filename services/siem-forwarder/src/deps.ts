import type { ServiceBase, Users } from "@coffer/service";
import type { Sealer } from "./credentials/seal.ts";
import type { Destinations } from "./outgoing/destination.ts";
import type { Plans } from "./plans/plans.ts";

/** All that an operation may use: its first argument. Built once, by hand, in service.ts. */
export interface Deps extends Pick<ServiceBase, "bus" | "database" | "telemetry" | "now"> {
  newId(): string;
  /** Who calls. */
  users: Users;
  plans: Plans;
  /** For the credentials of SIEM endpoints. */
  sealer: Sealer;
  /** Where requests to SIEM endpoints may go. */
  destinations: Destinations;
  /** How long a request to an endpoint may take; undefined for the default of 15 s. */
  outgoingMilliseconds: number | undefined;
  /** The name of this installation, as receivers see it. */
  hostName: string;
}
