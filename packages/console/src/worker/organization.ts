import type { AuditRecord } from "@coffer/events";
import type { OrganizationView } from "../protocol.ts";
import type { Workspace } from "./workspace.ts";

const mayRead: readonly string[] = ["owner", "admin", "auditor"];
/** So many events of billing are shown. */
const newest = 5;

/** The person's organization with its plan, and for those who may read the audit the newest events of billing. */
export async function organizationView({ client }: Workspace): Promise<OrganizationView> {
  const { organizations } = await client.account();
  const [own] = organizations;
  const all = organizations.map(({ id, name, role }) => ({ id, name, role }));
  if (own === undefined) return { organizations: all, current: null, billing: [] };
  const [{ id, name, plan, created_at: createdAt }, page] = await Promise.all([
    client.organizations.current(),
    mayRead.includes(own.role) ? client.audit({ actor_id: "stripe", order: "desc", limit: newest }).next() : undefined,
  ]);
  const records = (page?.value?.records ?? []) as AuditRecord[]; // shown, not relied on
  return {
    organizations: all,
    current: { id, name, plan, createdAt },
    billing: records.map(({ seq, time, action, outcome }) => ({ seq, time, action, outcome })),
  };
}

export async function createOrganization(workspace: Workspace, name: string): Promise<OrganizationView> {
  await workspace.client.organizations.create(name);
  return organizationView(workspace);
}
