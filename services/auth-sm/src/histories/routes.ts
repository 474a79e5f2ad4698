import { route, type RouteAudit } from "@coffer/http";
import { authenticateMachine } from "../callers/machine.ts";
import { authenticateUser } from "../callers/user.ts";
import { memberPath } from "../members/bodies.ts";
import { historyQuery, newEntry } from "@coffer/service";
import { historyFolderPath, invitedHistory } from "./bodies.ts";
import { extendFolderHistory } from "./extend-folder.ts";
import { extendOrgHistory } from "./extend-org.ts";
import { joinFolderHistory } from "./join-folder.ts";
import { readFolderHistory } from "./read-folder.ts";
import { readGrantedHistory } from "./read-granted.ts";
import { readInvitedHistory } from "./read-invited.ts";
import { readOrgHistory } from "./read-org.ts";
import { showHeads } from "./show-heads.ts";

const user = { bucket: "user", caller: authenticateUser } as const;
const machine = { bucket: "standard", caller: authenticateMachine, lazy: true } as const;
const org: RouteAudit["target"] = (_params, { orgId }) => ({ type: "org", id: orgId });
const folder: RouteAudit["target"] = ({ id = null }) => ({ type: "folder", id });
const ofFolder = { path: "/api/org/folders/:id/history", params: historyFolderPath };
const granted = { path: "/api/sm/v1/folders/:id/history", params: historyFolderPath };

export const historyRoutes = [
  route({ ...user, method: "GET", path: "/api/org/history", query: historyQuery, status: 200, run: readOrgHistory }),
  route({
    ...user,
    method: "POST",
    path: "/api/org/history",
    body: newEntry,
    status: 201,
    audit: { action: "history.trusted", target: org },
    run: extendOrgHistory,
  }),
  // The operation records its refusals, in the chain of the inviting organization.
  route({
    ...user,
    method: "POST",
    path: "/api/org/invites/history",
    body: invitedHistory,
    status: 200,
    run: readInvitedHistory,
  }),
  route({
    ...user,
    method: "GET",
    path: "/api/org/members/:user_id/heads",
    params: memberPath,
    status: 200,
    run: showHeads,
  }),
  route({ ...user, ...ofFolder, method: "GET", query: historyQuery, status: 200, run: readFolderHistory }),
  route({
    ...user,
    ...ofFolder,
    method: "POST",
    body: newEntry,
    status: 201,
    audit: { action: "history.adopted", target: folder },
    run: extendFolderHistory,
  }),
  route({
    ...machine,
    ...granted,
    method: "GET",
    query: historyQuery,
    status: 200,
    audit: { action: "client.access.denied", target: folder },
    run: readGrantedHistory,
  }),
  route({
    ...machine,
    ...granted,
    method: "POST",
    body: newEntry,
    status: 201,
    audit: { action: "history.joined", target: folder },
    run: joinFolderHistory,
  }),
];
