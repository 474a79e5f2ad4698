import type { Route, UpgradeRoute } from "@coffer/http";
import type { Deps } from "./deps.ts";
import { openConnection } from "./opening/open.ts";

/** The service's HTTP surface: it answers no request. */
export const routes: readonly Route<Deps>[] = [];

/** What it takes over. */
export const upgrades: readonly UpgradeRoute<Deps>[] = [{ path: "/api/sync/ws", bucket: "user", run: openConnection }];
