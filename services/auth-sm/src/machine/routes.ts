import { anyone, route, type RouteAudit, uidText, uuidText } from "@coffer/http";
import { z } from "zod";
import { requireWritableSecret } from "../access/secret.ts";
import { bootstrap, bootstrapBody } from "../bootstrap/bootstrap.ts";
import { authenticateMachine } from "../callers/machine.ts";
import { itself } from "../refusals.ts";
import { listQuery, newSecret, searchQuery, secretUpdate } from "../secrets/bodies.ts";
import { createSecret } from "../secrets/create.ts";
import { fieldPath, secretPath } from "../secrets/path.ts";
import { removeSecret } from "../secrets/remove.ts";
import { updateSecret } from "../secrets/update.ts";
import { listGrantedFolders } from "./list-folders.ts";
import { listVisibleSecrets } from "./list-secrets.ts";
import { notationBody } from "./notation.ts";
import { readField } from "./read-field.ts";
import { readSecret } from "./read-secret.ts";
import { resolveNotation } from "./resolve-notation.ts";
import { searchVisibleSecrets } from "./search-secrets.ts";
import { showClient } from "./show-client.ts";

const base = "/api/sm/v1";
// Every row but the last authenticates a machine. The statement that reads the data also checks the
// client's state, so nothing can change in between.
const machine = { bucket: "standard", caller: authenticateMachine, lazy: true } as const;

/** The fields that a refusal's audit target is taken from. */
const named = z.object({ uid: uidText.optional(), folder_id: uuidText.optional() });

const secret: RouteAudit["target"] = ({ uid }) => ({ type: "secret", id: uid ?? null });
const newcomer: RouteAudit["target"] = (_params, { body }) => {
  const { uid = null, folder_id: folderId } = named.safeParse(body).data ?? {};
  return { type: "secret", id: uid, ...(folderId === undefined ? {} : { parent_id: folderId }) };
};
const several: RouteAudit["target"] = (_params, { query, orgId }) => {
  const folderId = named.safeParse(query).data?.folder_id;
  return folderId === undefined ? { type: "org", id: orgId } : { type: "folder", id: folderId };
};
const unnamed: RouteAudit["target"] = () => ({ type: "secret", id: null });

/** The HTTP surface of the Secrets Manager (specification 4.1). */
export const machineRoutes = [
  route({
    ...machine,
    method: "GET",
    path: `${base}/secrets`,
    query: listQuery,
    status: 200,
    audit: { action: "secret.listed", target: several },
    run: listVisibleSecrets,
  }),
  route({
    ...machine,
    method: "GET",
    path: `${base}/secrets/search`,
    query: searchQuery,
    status: 200,
    audit: { action: "secret.searched", target: several },
    run: searchVisibleSecrets,
  }),
  route({
    ...machine,
    method: "GET",
    path: `${base}/secrets/:uid`,
    params: secretPath,
    status: 200,
    audit: { action: "secret.read", target: secret },
    run: readSecret,
  }),
  route({
    ...machine,
    method: "GET",
    path: `${base}/secrets/:uid/fields/:field`,
    params: fieldPath,
    status: 200,
    audit: { action: "secret.field.read", target: secret },
    run: readField,
  }),
  route({
    ...machine,
    method: "POST",
    path: `${base}/notation`,
    body: notationBody,
    status: 200,
    audit: { action: "secret.notation.resolved", target: unnamed },
    run: resolveNotation,
  }),
  route({
    ...machine,
    method: "POST",
    path: `${base}/secrets`,
    body: newSecret,
    status: 201,
    audit: { action: "secret.created", target: newcomer },
    run: createSecret,
  }),
  route({
    ...machine,
    method: "PUT",
    path: `${base}/secrets/:uid`,
    params: secretPath,
    body: secretUpdate,
    permit: requireWritableSecret,
    status: 200,
    audit: { action: "secret.updated", target: secret },
    run: updateSecret,
  }),
  route({
    ...machine,
    method: "DELETE",
    path: `${base}/secrets/:uid`,
    params: secretPath,
    status: 204,
    audit: { action: "secret.deleted", target: secret },
    run: removeSecret,
  }),
  route({
    ...machine,
    method: "GET",
    path: `${base}/folders`,
    status: 200,
    audit: { action: "client.access.denied", target: itself },
    run: listGrantedFolders,
  }),
  route({
    ...machine,
    method: "GET",
    path: `${base}/client`,
    status: 200,
    audit: { action: "client.access.denied", target: itself },
    run: showClient,
  }),
  route({
    method: "POST",
    path: `${base}/bootstrap`,
    bucket: "strict",
    caller: anyone,
    body: bootstrapBody,
    status: 200,
    run: bootstrap,
  }),
];
