import type { ServiceBase, Users } from "@coffer/service";

/** All that an operation may use: its first argument. Built once, by hand, in service.ts. */
export interface Deps extends Pick<ServiceBase, "bus" | "database"> {
  /** Who calls. */
  users: Users;
}
