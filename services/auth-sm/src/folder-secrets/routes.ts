import { newIdIn, route, type RouteAudit, uuidText } from "@coffer/http";
import { z } from "zod";
import { requireFolder } from "../access/folder.ts";
import { requireWritableSecret } from "../access/secret.ts";
import { authenticateUser } from "../callers/user.ts";
import { folderListQuery, folderSecretQuery, newSecretInFolder, secretUpdate } from "../secrets/bodies.ts";
import { createSecret } from "../secrets/create.ts";
import { folderSecretPath } from "../secrets/path.ts";
import { removeSecret } from "../secrets/remove.ts";
import { updateSecret } from "../secrets/update.ts";
import { listFolderSecrets } from "./list.ts";
import { readFolderSecret } from "./read.ts";

const base = "/api/org/folders/:id/secrets";
const person = { bucket: "user", caller: authenticateUser } as const;
const folderPath = z.object({ id: uuidText });

const secret: RouteAudit["target"] = ({ id, uid }, { body }) => ({
  type: "secret",
  id: uid ?? newIdIn(body, "uid"),
  ...(id === undefined ? {} : { parent_id: id }),
});
const folder: RouteAudit["target"] = ({ id }) => ({ type: "folder", id: id ?? null });

/** Secrets as a person uses them: below their folder, with the person's own permission. */
export const folderSecretRoutes = [
  route({
    ...person,
    method: "GET",
    path: base,
    params: folderPath,
    query: folderListQuery,
    status: 200,
    audit: { action: "secret.listed", target: folder },
    run: listFolderSecrets,
  }),
  route({
    ...person,
    method: "POST",
    path: base,
    params: folderPath,
    body: newSecretInFolder,
    permit: (deps, { caller, params }) => requireFolder(deps, caller, params.id, "write"),
    status: 201,
    audit: { action: "secret.created", target: secret },
    run: (deps, call) => createSecret(deps, { ...call, body: { ...call.body, folder_id: call.params.id } }),
  }),
  route({
    ...person,
    method: "GET",
    path: `${base}/:uid`,
    params: folderSecretPath,
    query: folderSecretQuery,
    status: 200,
    audit: { action: "secret.read", target: secret },
    run: readFolderSecret,
  }),
  route({
    ...person,
    method: "PUT",
    path: `${base}/:uid`,
    params: folderSecretPath,
    body: secretUpdate,
    permit: requireWritableSecret,
    status: 200,
    audit: { action: "secret.updated", target: secret },
    run: updateSecret,
  }),
  route({
    ...person,
    method: "DELETE",
    path: `${base}/:uid`,
    params: folderSecretPath,
    status: 204,
    audit: { action: "secret.deleted", target: secret },
    run: removeSecret,
  }),
];
