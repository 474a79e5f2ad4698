import type { AuditRecord } from "@coffer/events";
import type { OrganizationsView, OrganizationView } from "../../protocol/people.ts";
import { ownOrganization } from "./people.ts";
import type { Workspace } from "../workspace.ts";

const mayRead: readonly string[] = ["owner", "admin", "auditor"];
/** So many events of billing are shown. */
const newest = 5;

/** The organizations to choose from. Their names are those of the histories, where this device knows them. */
export async function organizationsView(workspace: Workspace): Promise<OrganizationsView> {
  const { client } = workspace;
  const listed = (await client.account()).organizations.map(({ id, name }) => ({ id, name }));
  if (listed.length < 2) return { organizations: listed, current: listed[0]?.id ?? null };
  const [nameable, own] = await Promise.all([
    client.organizations.nameable(),
    // The person may have left it: then another one must be chosen.
    ownOrganization(workspace).catch(() => undefined),
  ]);
  const names = new Map(nameable.map(({ id, name }) => [id, name]));
  return {
    organizations: listed.map(({ id, name }) => ({ id, name: names.get(id) ?? name })),
    current: own?.id ?? null,
  };
}

/** The person's organization with its plan, and for those who may read the audit the newest events of billing. */
export async function organizationView(workspace: Workspace): Promise<OrganizationView> {
  const { client } = workspace;
  const own = await ownOrganization(workspace);
  if (own === undefined) return { current: null, billing: [] };
  const [{ id, plan, created_at: createdAt }, page] = await Promise.all([
    client.organizations.current(),
    mayRead.includes(own.role) ? client.audit({ actor_id: "stripe", order: "desc", limit: newest }).next() : undefined,
  ]);
  const records = (page?.value?.records ?? []) as AuditRecord[]; // shown, not relied on
  return {
    current: { id, name: own.name, role: own.role, plan, createdAt },
    billing: records.map(({ seq, time, action, outcome }) => ({ seq, time, action, outcome })),
  };
}

export async function createOrganization(workspace: Workspace, name: string): Promise<OrganizationView> {
  await workspace.client.organizations.create(name);
  return organizationView(workspace);
}
