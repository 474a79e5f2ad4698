import type { DestinationsView } from "../../protocol/audit.ts";
import type { Calls } from "../../protocol/calls.ts";
import { ownOrganization } from "./people.ts";
import type { Workspace } from "../workspace.ts";

/** Where the audit records of the person's organization go, and on which plan. */
export async function destinationsView(workspace: Workspace): Promise<DestinationsView> {
  const { client } = workspace;
  const own = await ownOrganization(workspace);
  const mayManage = own !== undefined && ["owner", "admin"].includes(own.role);
  const maySee = mayManage || own?.role === "auditor";
  const listed = maySee ? await client.siem.list() : [];
  return {
    maySee,
    mayManage,
    destinations: listed.map(({ id, name, format, url, enabled, last_delivery: lastDelivery }) => {
      return { id, name: name ?? url, format, url, enabled, lastDelivery };
    }),
  };
}

export async function createDestination(
  workspace: Workspace,
  { format, url, credentials }: Parameters<Calls["createDestination"]>[0],
): Promise<DestinationsView> {
  // A field that was left empty is not given.
  const given = Object.fromEntries(Object.entries(credentials).filter(([, value]) => value !== ""));
  await workspace.client.siem.create({ format, url, credentials: given });
  return destinationsView(workspace);
}

export async function switchDestination(
  workspace: Workspace,
  { id, enabled }: Parameters<Calls["switchDestination"]>[0],
): Promise<DestinationsView> {
  await workspace.client.siem.update(id, { enabled });
  return destinationsView(workspace);
}

export async function removeDestination(workspace: Workspace, id: string): Promise<DestinationsView> {
  await workspace.client.siem.remove(id);
  return destinationsView(workspace);
}
