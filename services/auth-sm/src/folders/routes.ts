import { newIdIn, route, type RouteAudit } from "@coffer/http";
import { requireFolder } from "../access/folder.ts";
import { authenticateUser } from "../callers/user.ts";
import { pageQuery } from "../lists/answer-list.ts";
import { folderMember, folderMemberPath, folderName, folderPath, folderRemoval, newFolder } from "./bodies.ts";
import { createFolder } from "./create.ts";
import { listFolderHolders } from "./list-holders.ts";
import { listOrgFolders } from "./list.ts";
import { removeFolder } from "./remove.ts";
import { rotateFolder } from "./rotate.ts";
import {
  rotation,
  rotationLimitBytes,
  rotationPath,
  rotationTokensPerKibibyte,
  stagedSecrets,
} from "./rotation-body.ts";
import { shareFolder } from "./share.ts";
import { stageRotation } from "./stage-rotation.ts";
import { unshareFolder } from "./unshare.ts";
import { updateFolder } from "./update.ts";

const base = "/api/org/folders";
const user = { bucket: "user", caller: authenticateUser } as const;
const folder: RouteAudit["target"] = ({ id }, { body }) => ({ type: "folder", id: id ?? newIdIn(body, "id") });

const member: RouteAudit["target"] = ({ id = "", user_id = null }) => ({ type: "user", id: user_id, parent_id: id });

export const folderRoutes = [
  route({ ...user, method: "GET", path: base, query: pageQuery, status: 200, run: listOrgFolders }),
  route({
    ...user,
    method: "POST",
    path: base,
    body: newFolder,
    status: 201,
    audit: { action: "folder.created", target: folder },
    run: createFolder,
  }),
  route({
    ...user,
    method: "PATCH",
    path: `${base}/:id`,
    params: folderPath,
    body: folderName,
    status: 200,
    audit: { action: "folder.updated", target: folder },
    run: updateFolder,
  }),
  route({
    ...user,
    method: "DELETE",
    path: `${base}/:id`,
    params: folderPath,
    query: folderRemoval,
    status: 204,
    audit: { action: "folder.deleted", target: folder },
    run: removeFolder,
  }),
  route({
    ...user,
    method: "GET",
    path: `${base}/:id/members`,
    params: folderPath,
    status: 200,
    run: listFolderHolders,
  }),
  route({
    ...user,
    method: "PUT",
    path: `${base}/:id/members/:user_id`,
    params: folderMemberPath,
    body: folderMember,
    status: 200,
    audit: { action: "folder.member.added", target: member },
    run: shareFolder,
  }),
  route({
    ...user,
    method: "DELETE",
    path: `${base}/:id/members/:user_id`,
    params: folderMemberPath,
    status: 204,
    audit: { action: "folder.member.removed", target: member },
    run: unshareFolder,
  }),
  route({
    ...user,
    method: "POST",
    path: `${base}/:id/rotate`,
    params: folderPath,
    body: rotation,
    bodyLimitBytes: rotationLimitBytes,
    tokensPerKibibyte: rotationTokensPerKibibyte,
    permit: (deps, { caller, params }) => requireFolder(deps, caller, params.id, "manage"),
    status: 200,
    audit: { action: "folder.key.rotated", target: folder },
    run: rotateFolder,
  }),
  route({
    ...user,
    method: "PUT",
    path: `${base}/:id/rotation/:rotation_id`,
    params: rotationPath,
    body: stagedSecrets,
    bodyLimitBytes: rotationLimitBytes,
    tokensPerKibibyte: rotationTokensPerKibibyte,
    permit: (deps, { caller, params }) => requireFolder(deps, caller, params.id, "manage"),
    status: 200,
    audit: { action: "folder.key.rotated", target: folder },
    run: stageRotation,
  }),
];
