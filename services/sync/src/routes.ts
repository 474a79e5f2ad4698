import type { Route, UpgradeRoute } from "@coffer/http";
import type { Deps } from "./deps.ts";
import { openConnection } from "./opening/open.ts";

/** The service has no HTTP endpoints. */
export const routes: readonly Route<Deps>[] = [];

/** Its WebSocket endpoint. */
export const upgrades: readonly UpgradeRoute<Deps>[] = [{ path: "/api/sync/ws", bucket: "user", run: openConnection }];
