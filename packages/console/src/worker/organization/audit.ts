import type { AuditRecord } from "@coffer/events";
import { verifyChainWith } from "@coffer/events/verify-chain";
import type { AuditFilter } from "@coffer/sdk";
import { auditNames, checkChain } from "@coffer/sdk/audit";
import { sha256 } from "@noble/hashes/sha2.js";
import { bytesToHex, utf8ToBytes } from "@noble/hashes/utils.js";
import type { AuditView, AuditWish, ChainView } from "../../protocol/audit.ts";
import { ownOrganization } from "./people.ts";
import type { Workspace } from "../workspace.ts";

const readers: readonly string[] = ["owner", "admin", "auditor"];

/** The newest records of the organization that match. */
export async function auditOf(workspace: Workspace, wish: AuditWish): Promise<AuditView> {
  const own = await ownOrganization(workspace);
  if (own === undefined || !readers.includes(own.role) || own.status !== "active")
    return { organization: null, members: [], rows: [], count: 0 };
  const { id: organization } = own;
  const client = workspace.inOrganization(organization);
  const { value } = await client.audit({ ...filterOf(wish), order: "desc", limit: wish.limit }).next();
  const records = (value?.records ?? []) as AuditRecord[]; // shown, not relied on
  const names = await auditNames(
    client,
    records.flatMap(({ actor, target }) => [actor, target]),
  );
  const named = ({ type, id }: { type: string; id: string | null }): string =>
    `${type} ${names.get(id ?? "") ?? id ?? ""}`.trim();
  const rows = records.map(({ seq, time, action, outcome, actor, target, source, ...rest }) => {
    const record = JSON.stringify({ seq, time, action, outcome, actor, target, source, ...rest }, null, 2);
    return { seq, time, action, outcome, actor: named(actor), target: named(target), ip: source.ip ?? "", record };
  });
  const members = await client.members.list().catch(() => []); // without them, every actor is shown
  return {
    ...{ organization, rows },
    members: members.map(({ user_id: id, email }) => ({ id, email })),
    count: value?.head?.seq ?? 0,
  };
}

function filterOf({ action, outcome, actor, from, to }: AuditWish): AuditFilter {
  return {
    action: action || undefined,
    outcome: outcome || undefined,
    actor_id: actor || undefined,
    from: startOf(from, 0),
    to: startOf(to, 1),
  };
}

/** The start of a day in the person's time, or of one so many days later; undefined without a day. */
function startOf(day: string, later: number): string | undefined {
  const [year = 0, month = 0, date = 0] = day.split("-").map(Number);
  return day === "" ? undefined : new Date(year, month - 1, date + later).toISOString();
}

/** All records that match, as lines of JSON. The worker reads them page by page. */
export async function exportAudit(workspace: Workspace, wish: AuditWish): Promise<{ file: Blob; count: number }> {
  const lines: string[] = [];
  const client = wish.organization === null ? workspace.client : workspace.inOrganization(wish.organization);
  for await (const { records } of client.audit({ ...filterOf(wish), order: "asc" }))
    for (const record of records) lines.push(`${JSON.stringify(record)}\n`);
  return { file: new Blob(lines, { type: "application/jsonl" }), count: lines.length };
}

/** Recomputes a chain. Its end, if it is whole, must be in it the next time. */
export async function verifyAudit({ auditHead, inOrganization }: Workspace, organization: string): Promise<ChainView> {
  const verified = auditHead(organization);
  const expected = await verified.load();
  const { head, broken, gaps } = await checkChain(inOrganization(organization).audit(), {
    expected,
    follow: (before, record) => verifyChainWith(hashOf, before, [record as AuditRecord]), // verified as it is
  });
  if (broken === undefined) await verified.save(head);
  return { count: head.seq, broken: broken ?? null, gaps: gaps.length, before: expected?.seq ?? 0 };
}

function hashOf(text: string): string {
  return bytesToHex(sha256(utf8ToBytes(text)));
}
