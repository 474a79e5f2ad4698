import type { Route } from "@coffer/http";
import { accountRoutes } from "./accounts/routes.ts";
import { applicationRoutes } from "./applications/routes.ts";
import { clientRoutes } from "./clients/routes.ts";
import type { Deps } from "./deps.ts";
import { folderSecretRoutes } from "./folder-secrets/routes.ts";
import { folderRoutes } from "./folders/routes.ts";
import { historyRoutes } from "./histories/routes.ts";
import { inviteRoutes } from "./invites/routes.ts";
import { keyringRoutes } from "./keyrings/routes.ts";
import { keyRoutes } from "./keys/routes.ts";
import { machineRoutes } from "./machine/routes.ts";
import { memberRoutes } from "./members/routes.ts";
import { orgRoutes } from "./orgs/routes.ts";
import { passwordRoutes } from "./passwords/routes.ts";
import { recoveryRoutes } from "./recovery/routes.ts";
import type { Caller } from "./refusals.ts";
import { sessionRoutes } from "./sessions/routes.ts";
import { tokenRoutes } from "./tokens/routes.ts";
import { totpRoutes } from "./totp/routes.ts";
import { travelModeRoutes } from "./travel-mode/routes.ts";
import { userRoutes } from "./users/routes.ts";

/** The whole HTTP surface of the service, one row per endpoint. */
export const routes: readonly Route<Deps, Caller>[] = [
  ...machineRoutes,
  ...accountRoutes,
  ...passwordRoutes,
  ...totpRoutes,
  ...travelModeRoutes,
  ...recoveryRoutes,
  ...sessionRoutes,
  ...keyRoutes,
  ...orgRoutes,
  ...historyRoutes,
  ...keyringRoutes,
  ...inviteRoutes,
  ...memberRoutes,
  ...userRoutes,
  ...folderRoutes,
  ...folderSecretRoutes,
  ...applicationRoutes,
  ...tokenRoutes,
  ...clientRoutes,
];
