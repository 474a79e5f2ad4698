import type { Route } from "@coffer/http";
import type { User } from "@coffer/service";
import type { Deps } from "./deps.ts";
import { memberRoutes } from "./members/routes.ts";
import { recordRoutes } from "./records/routes.ts";
import { vaultRoutes } from "./vaults/routes.ts";

/** The whole HTTP surface of the service, a row per endpoint. */
export const routes: readonly Route<Deps, User>[] = [...vaultRoutes, ...memberRoutes, ...recordRoutes];
