import { route, type RouteAudit } from "@coffer/http";
import { applicationPath } from "../applications/bodies.ts";
import { authenticateUser } from "../callers/user.ts";
import { pageQuery } from "../lists/answer-list.ts";
import { clientPath, grantBody, grantPath } from "./bodies.ts";
import { grantFolder } from "./grant.ts";
import { listClients } from "./list.ts";
import { revokeClient } from "./revoke.ts";
import { revokeGrant } from "./revoke-grant.ts";

const base = "/api/org/applications/:id/clients";
const user = { bucket: "user", caller: authenticateUser } as const;
const client: RouteAudit["target"] = ({ id = "", client_id = null }) => ({
  type: "client",
  id: client_id,
  parent_id: id,
});

export const clientRoutes = [
  route({
    ...user,
    method: "GET",
    path: base,
    params: applicationPath,
    query: pageQuery,
    status: 200,
    run: listClients,
  }),
  route({
    ...user,
    method: "DELETE",
    path: `${base}/:client_id`,
    params: clientPath,
    status: 204,
    audit: { action: "client.revoked", target: client },
    run: revokeClient,
  }),
  route({
    ...user,
    method: "PUT",
    path: `${base}/:client_id/folders/:folder_id`,
    params: grantPath,
    body: grantBody,
    status: 200,
    audit: { action: "client.grant.added", target: client },
    run: grantFolder,
  }),
  route({
    ...user,
    method: "DELETE",
    path: `${base}/:client_id/folders/:folder_id`,
    params: grantPath,
    status: 204,
    audit: { action: "client.grant.removed", target: client },
    run: revokeGrant,
  }),
];
