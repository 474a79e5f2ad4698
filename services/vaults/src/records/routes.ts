import { newIdIn, route, type RouteAudit } from "@coffer/http";
import { authenticateUser, type User } from "@coffer/service";
import { requireVault } from "../access/vault.ts";
import type { Deps } from "../deps.ts";
import { type VaultPath, vaultPath } from "../vaults/bodies.ts";
import { importBody, newRecord, recordContent, recordListQuery, recordPath } from "./bodies.ts";
import { createRecord } from "./create.ts";
import { importRecords } from "./import.ts";
import { listVaultRecords } from "./list.ts";
import { readRecord } from "./read.ts";
import { removeRecord } from "./remove.ts";
import { updateRecord } from "./update.ts";

const base = "/api/vaults/:id/records";
const importLimitBytes = 32 * 1024 * 1024;
const user = { bucket: "user", caller: authenticateUser } as const;
const vault: RouteAudit["target"] = ({ id = null }) => ({ type: "vault", id });
const record: RouteAudit["target"] = ({ id, rid }, { body }) => ({
  type: "record",
  id: rid ?? newIdIn(body, "id"),
  ...(id === undefined ? {} : { parent_id: id }),
});

const permit = (deps: Deps, { caller, params }: { caller: User; params: VaultPath }) =>
  requireVault(deps.database.pool, caller, params.id, "write");

export const recordRoutes = [
  route({
    ...user,
    method: "GET",
    path: base,
    params: vaultPath,
    query: recordListQuery,
    status: 200,
    audit: { action: "record.listed", target: vault },
    run: listVaultRecords,
  }),
  route({
    ...user,
    method: "POST",
    path: base,
    params: vaultPath,
    body: newRecord,
    permit,
    status: 201,
    audit: { action: "record.created", target: record },
    run: createRecord,
  }),
  route({
    ...user,
    method: "GET",
    path: `${base}/:rid`,
    params: recordPath,
    status: 200,
    audit: { action: "record.read", target: record },
    run: readRecord,
  }),
  route({
    ...user,
    method: "PUT",
    path: `${base}/:rid`,
    params: recordPath,
    body: recordContent,
    permit,
    status: 200,
    audit: { action: "record.updated", target: record },
    run: updateRecord,
  }),
  route({
    ...user,
    method: "DELETE",
    path: `${base}/:rid`,
    params: recordPath,
    status: 204,
    audit: { action: "record.deleted", target: record },
    run: removeRecord,
  }),
  route({
    ...user,
    method: "POST",
    path: "/api/vaults/:id/import",
    params: vaultPath,
    body: importBody,
    permit,
    bodyLimitBytes: importLimitBytes,
    status: 201,
    audit: { action: "record.imported", target: vault },
    run: importRecords,
  }),
];
