import {
  auditOf,
  type Call,
  cursorAfter,
  decodeCursor,
  encodeCursor,
  listText,
  notModified,
  type NotModified,
  type Part,
  streamed,
  type Streamed,
  type Tagged,
  tagged,
  timestampText,
  uuidText,
} from "@coffer/http";
import { type User, userActor } from "@coffer/service";
import { z } from "zod";
import type { Deps } from "../deps.ts";
import { findMembership } from "../store/memberships.ts";
import { listVaults, type VaultPart, type VaultQuery } from "../store/vaults/vault-lists.ts";
import type { VaultRow } from "../store/vaults/vaults.ts";
import type { VaultListQuery } from "./bodies.ts";
import { vaultView } from "./view.ts";

type ListCall = Call<User, unknown, undefined, VaultListQuery>;

const position = z.object({ created_at: timestampText, id: uuidText });
const cursor = ({ created_at, id }: VaultRow): string => encodeCursor({ created_at, id });

/**
 * GET /api/vaults: all vaults that the caller sees, of every organization. A long list is sent in
 * parts, each authorized and audited before it is sent (docs/adr/0011).
 */
export async function listOwnVaults(deps: Deps, call: ListCall): Promise<Tagged | Streamed | NotModified> {
  const { held, query } = call;
  const { limit } = query;
  const wanted: VaultQuery = {
    after: query.cursor === undefined ? undefined : decodeCursor(query.cursor, position),
    limit,
  };
  const first = await readPart(deps, call, wanted, { first: true });
  const tag = first.digest;
  if (held.includes(tag)) return notModified(tag);
  if (!first.more || first.rows.length === limit) {
    await first.record();
    const data = first.rows.map(vaultView);
    return tagged(tag, limit === undefined ? { data } : { data, next_cursor: cursorAfter(first, { cursor }) });
  }
  await first.record("part");
  // Ends at the last vault of now.
  const until = limit === undefined ? first.end : undefined;
  const next = (after: VaultRow, left: number | undefined) =>
    readPart(deps, call, { after, until, limit: left }, { first: false });
  return streamed(tag, listText([first], { view: vaultView, cursor, next, limit }));
}

async function readPart(
  deps: Deps,
  call: ListCall,
  wanted: VaultQuery,
  of: { first: boolean },
): Promise<VaultPart & Required<Part<VaultRow>>> {
  const part = await listVaults(deps.database.pool, call.caller.userId, wanted, of);
  return { ...part, record: (reason) => recordPart(deps, call, part.rows, reason) };
}

/**
 * Audits in the chain of each organization in the part; an empty part in the chain of the caller's
 * organization.
 */
async function recordPart(
  deps: Deps,
  { caller, request }: Pick<ListCall, "caller" | "request">,
  rows: readonly VaultRow[],
  reason?: "part",
): Promise<void> {
  const counts = new Map<string | null, number>();
  for (const { org_id } of rows) counts.set(org_id, (counts.get(org_id) ?? 0) + 1);
  if (counts.size === 0) {
    const membership = await findMembership(deps.database.pool, caller.userId, caller.orgId);
    counts.set(membership?.status === "active" ? membership.org_id : null, 0);
  }
  await Promise.all(
    Array.from(counts, ([orgId, count]) =>
      deps.audit(
        auditOf(deps, request, {
          org_id: orgId,
          action: "vault.listed",
          actor: userActor(caller),
          target: { type: "org", id: orgId },
          status: 200,
          count,
          ...(reason && { reason }),
        }),
      ),
    ),
  );
}
