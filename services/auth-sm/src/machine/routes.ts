import { anyone, route, uidText, uuidText } from "@coffer/http";
import { z } from "zod";
import { requireWritableSecret } from "../access/secret.ts";
import { bootstrap, bootstrapBody } from "../bootstrap/bootstrap.ts";
import { authenticateMachine } from "../callers/machine.ts";
import { type Attempt, attempting, itself } from "../refusals.ts";
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

const secret: Attempt["target"] = ({ uid }) => ({ type: "secret", id: uid ?? null });
const newcomer: Attempt["target"] = (_params, { body }) => {
  const { uid = null, folder_id: folderId } = named.safeParse(body).data ?? {};
  return { type: "secret", id: uid, ...(folderId === undefined ? {} : { parent_id: folderId }) };
};
const several: Attempt["target"] = (_params, { query, orgId }) => {
  const folderId = named.safeParse(query).data?.folder_id;
  return folderId === undefined ? { type: "org", id: orgId } : { type: "folder", id: folderId };
};
const unnamed: Attempt["target"] = () => ({ type: "secret", id: null });

/** The HTTP surface of the Secrets Manager (specification 4.1). */
export const machineRoutes = [
  attempting(
    "secret.listed",
    several,
    route({
      ...machine,
      method: "GET",
      path: `${base}/secrets`,
      query: listQuery,
      status: 200,
      run: listVisibleSecrets,
    }),
  ),
  attempting(
    "secret.searched",
    several,
    route({
      ...machine,
      method: "GET",
      path: `${base}/secrets/search`,
      query: searchQuery,
      status: 200,
      run: searchVisibleSecrets,
    }),
  ),
  attempting(
    "secret.read",
    secret,
    route({
      ...machine,
      method: "GET",
      path: `${base}/secrets/:uid`,
      params: secretPath,
      status: 200,
      run: readSecret,
    }),
  ),
  attempting(
    "secret.field.read",
    secret,
    route({
      ...machine,
      method: "GET",
      path: `${base}/secrets/:uid/fields/:field`,
      params: fieldPath,
      status: 200,
      run: readField,
    }),
  ),
  attempting(
    "secret.notation.resolved",
    unnamed,
    route({
      ...machine,
      method: "POST",
      path: `${base}/notation`,
      body: notationBody,
      status: 200,
      run: resolveNotation,
    }),
  ),
  attempting(
    "secret.created",
    newcomer,
    route({ ...machine, method: "POST", path: `${base}/secrets`, body: newSecret, status: 201, run: createSecret }),
  ),
  attempting(
    "secret.updated",
    secret,
    route({
      ...machine,
      method: "PUT",
      path: `${base}/secrets/:uid`,
      params: secretPath,
      body: secretUpdate,
      permit: requireWritableSecret,
      status: 200,
      run: updateSecret,
    }),
  ),
  attempting(
    "secret.deleted",
    secret,
    route({
      ...machine,
      method: "DELETE",
      path: `${base}/secrets/:uid`,
      params: secretPath,
      status: 204,
      run: removeSecret,
    }),
  ),
  attempting(
    "client.access.denied",
    itself,
    route({ ...machine, method: "GET", path: `${base}/folders`, status: 200, run: listGrantedFolders }),
  ),
  attempting(
    "client.access.denied",
    itself,
    route({ ...machine, method: "GET", path: `${base}/client`, status: 200, run: showClient }),
  ),
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
