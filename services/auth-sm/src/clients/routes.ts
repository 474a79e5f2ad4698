import { route } from "@coffer/http";
import { applicationPath } from "../applications/bodies.ts";
import { authenticateUser } from "../callers/user.ts";
import { type Attempt, attempting } from "../refusals.ts";
import { clientPath, grantBody, grantPath } from "./bodies.ts";
import { grantFolder } from "./grant.ts";
import { listClients } from "./list.ts";
import { revokeClient } from "./revoke.ts";
import { revokeGrant } from "./revoke-grant.ts";

const base = "/api/org/applications/:id/clients";
const user = { bucket: "user", caller: authenticateUser } as const;
const client: Attempt["target"] = ({ id = "", client_id = null }) => ({ type: "client", id: client_id, parent_id: id });

export const clientRoutes = [
  route({ ...user, method: "GET", path: base, params: applicationPath, status: 200, run: listClients }),
  attempting(
    "client.revoked",
    client,
    route({
      ...user,
      method: "DELETE",
      path: `${base}/:client_id`,
      params: clientPath,
      status: 204,
      run: revokeClient,
    }),
  ),
  attempting(
    "client.grant.added",
    client,
    route({
      ...user,
      method: "PUT",
      path: `${base}/:client_id/folders/:folder_id`,
      params: grantPath,
      body: grantBody,
      status: 200,
      run: grantFolder,
    }),
  ),
  attempting(
    "client.grant.removed",
    client,
    route({
      ...user,
      method: "DELETE",
      path: `${base}/:client_id/folders/:folder_id`,
      params: grantPath,
      status: 204,
      run: revokeGrant,
    }),
  ),
];
