import { jwe, sealed } from "../support/vaults.ts";
import type { Cast, Standing } from "./cast.ts";

/** A request about the vault of a cast. */
export interface Row {
  method: string;
  /** The path as in routes.ts. */
  path: string;
  needed: "read" | "write" | "manage";
  /** The response for a caller with the permission; an error if the cast lacks what the request needs. */
  status: number;
  body?: (cast: Cast) => object;
  /** The person that the path names. */
  member?: "newcomer" | "reader";
}

const content = () => ({ type: "login", encrypted_data: sealed() });

/** Every route below a vault, with the permission that it needs. */
export const rows: readonly Row[] = [
  { method: "GET", path: "/api/vaults/:id", needed: "read", status: 200 },
  { method: "GET", path: "/api/vaults/:id/members", needed: "read", status: 200 },
  { method: "GET", path: "/api/vaults/:id/records", needed: "read", status: 200 },
  { method: "GET", path: "/api/vaults/:id/records/:rid", needed: "read", status: 200 },
  { method: "POST", path: "/api/vaults/:id/records", needed: "write", status: 201, body: content },
  { method: "PUT", path: "/api/vaults/:id/records/:rid", needed: "write", status: 200, body: content },
  {
    method: "POST",
    path: "/api/vaults/:id/import",
    needed: "write",
    status: 201,
    body: () => ({ records: [content()] }),
  },
  { method: "DELETE", path: "/api/vaults/:id/records/:rid", needed: "write", status: 204 },
  { method: "PATCH", path: "/api/vaults/:id", needed: "manage", status: 200, body: () => ({ name: sealed(8) }) },
  {
    method: "PUT",
    path: "/api/vaults/:id/members/:user_id",
    needed: "manage",
    status: 200,
    member: "newcomer",
    body: () => ({ permission: "read", encrypted_key: jwe }),
  },
  { method: "GET", path: "/api/vaults/:id/history", needed: "read", status: 200 },
  // The vaults of the cast have no history, so a manager's entry is refused.
  { method: "POST", path: "/api/vaults/:id/history", needed: "manage", status: 400, body: () => ({ entry: "a.b.c" }) },
  {
    method: "PUT",
    path: "/api/vaults/:id/pin",
    needed: "read",
    status: 412,
    body: () => ({ version: 7, sealed: sealed() }),
  },
  {
    method: "PUT",
    path: "/api/vaults/:id/rotation/:rotation_id",
    needed: "manage",
    status: 200,
    body: () => ({ records: [] }),
  },
  {
    method: "POST",
    path: "/api/vaults/:id/rotate",
    needed: "manage",
    status: 409,
    body: () => ({ key_version: 7, encrypted_keys: { users: [] }, records: [] }),
  },
  { method: "DELETE", path: "/api/vaults/:id/members/:user_id", needed: "manage", status: 204, member: "reader" },
  { method: "DELETE", path: "/api/vaults/:id", needed: "manage", status: 204 },
];

/** Routes without a vault in their path. */
export const rootRoutes: readonly string[] = ["GET /api/vaults", "POST /api/vaults"];

const order: readonly Standing[] = ["read", "write", "manage"];

/** The response for a caller of this standing. */
export function expectedStatus({ needed, status }: Row, standing: Standing): number {
  if (standing === "unknown") return 401;
  if (standing === "outsider") return 404;
  if (standing === "insider") return 403;
  return order.indexOf(standing) >= order.indexOf(needed) ? status : 403;
}

/** The path of a request about the vault of a cast. */
export function pathOf({ path, member }: Row, cast: Cast, ids: { vaultId?: string; recordId?: string } = {}): string {
  return path
    .replace(":id", ids.vaultId ?? cast.vault.id)
    .replace(":rid", ids.recordId ?? cast.record.id)
    .replace(":rotation_id", "019a9e30-aaaa-7aaa-8aaa-aaaaaaaaaaaa")
    .replace(":user_id", member === undefined ? "" : cast[member].userId);
}
