import type { Route } from "@coffer/http";
import type { User } from "@coffer/service";
import { inChosenOrganization } from "./access/organization.ts";
import type { Deps } from "./deps.ts";
import { historyRoutes } from "./histories/routes.ts";
import { memberRoutes } from "./members/routes.ts";
import { pinRoutes } from "./pins/routes.ts";
import { recordRoutes } from "./records/routes.ts";
import { rotationRoutes } from "./rotations/routes.ts";
import { vaultRoutes } from "./vaults/routes.ts";

const rows: readonly Route<Deps, User>[] = [
  ...vaultRoutes,
  ...memberRoutes,
  ...historyRoutes,
  ...rotationRoutes,
  ...pinRoutes,
  ...recordRoutes,
];

/**
 * The HTTP surface, a row per endpoint. `/api/vaults` does not check the chosen organization: the
 * list has all of the caller's vaults, and a new vault belongs to the chosen organization.
 */
export const routes = rows.map((row) => (row.path === "/api/vaults" ? row : inChosenOrganization(row)));
