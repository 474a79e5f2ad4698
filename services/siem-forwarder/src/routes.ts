import { route } from "@coffer/http";
import { authenticateUser } from "@coffer/service";
import { auditQuery } from "./audit/list-query.ts";
import { listAudit } from "./audit/list.ts";
import { endpointRoutes } from "./endpoints/routes.ts";

/** The service's HTTP surface. */
export const routes = [
  route({
    method: "GET",
    path: "/api/org/audit",
    bucket: "user",
    caller: authenticateUser,
    query: auditQuery,
    status: 200,
    run: listAudit,
  }),
  ...endpointRoutes,
];
