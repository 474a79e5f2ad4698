import {
  type AuditedCall,
  cursorAfter,
  decodeCursor,
  encodeCursor,
  notModified,
  type NotModified,
  type Tagged,
  tagged,
  timestampText,
  uuidText,
} from "@coffer/http";
import type { User } from "@coffer/service";
import { z } from "zod";
import { requireVault } from "../access/vault.ts";
import type { Deps } from "../deps.ts";
import { listMembers, type VaultMemberRow } from "../store/vaults/vault-members.ts";
import type { VaultPath } from "../vaults/bodies.ts";
import { tagOf } from "../vaults/tag.ts";
import type { VaultMemberListQuery } from "./bodies.ts";

const position = z.object({ added_at: timestampText, user_id: uuidText });
const cursor = ({ added_at, user_id }: VaultMemberRow): string => encodeCursor({ added_at, user_id });

/** GET /api/vaults/{id}/members, in the order in which they were added. */
export async function listVaultMembers(
  deps: Deps,
  { caller, params, query, held, audit }: AuditedCall<User, VaultPath, undefined, VaultMemberListQuery>,
): Promise<Tagged | NotModified> {
  const { limit } = query;
  const after = query.cursor === undefined ? undefined : decodeCursor(query.cursor, position);
  const { vault, rows } = await deps.database.transaction(async (tx) => {
    const found = await requireVault(tx, caller, params.id, "read");
    // One row more than the page shows whether more rows follow.
    return { vault: found, rows: await listMembers(tx, found.id, { after, limit: limit && limit + 1 }) };
  });
  const data = rows.slice(0, limit);
  const more = rows.length > data.length;
  const answer = limit === undefined ? { data } : { data, next_cursor: cursorAfter({ rows: data, more }, { cursor }) };
  const tag = tagOf(answer);
  if (held.includes(tag)) return notModified(tag);
  await deps.audit(audit({ orgId: vault.orgId, actor: vault.actor, count: data.length, reason: "members" }));
  return tagged(tag, answer);
}
