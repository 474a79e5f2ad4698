import type { AuditRecord } from "@coffer/events";
import { verifyChainWith } from "@coffer/events/verify-chain";
import { auditNames, checkChain } from "@coffer/sdk/audit";
import { sha256 } from "@noble/hashes/sha2.js";
import { bytesToHex, utf8ToBytes } from "@noble/hashes/utils.js";
import type { AuditView, AuditWish, ChainView } from "../protocol.ts";
import type { Workspace } from "./workspace.ts";

const readers: readonly string[] = ["owner", "admin", "auditor"];

/** The newest records of an organization that match. */
export async function auditOf(workspace: Workspace, wish: AuditWish): Promise<AuditView> {
  const account = await workspace.client.account();
  const organizations = account.organizations
    .filter(({ role, status }) => readers.includes(role) && status === "active")
    .map(({ id, name }) => ({ id, name }));
  const organization = organizations.find(({ id }) => id === wish.organization)?.id ?? organizations[0]?.id;
  if (organization === undefined) return { organizations, organization: null, rows: [], count: 0 };
  const client = workspace.inOrganization(organization);
  const { action, outcome, limit } = wish;
  const filter = { action: action || undefined, outcome: outcome || undefined, order: "desc", limit } as const;
  const { value } = await client.audit(filter).next();
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
  return { organizations, organization, rows, count: value?.head?.seq ?? 0 };
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
