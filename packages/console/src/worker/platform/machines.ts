import type { Calls } from "../../protocol/calls.ts";
import type {
  ApplicationView,
  ApplicationsView,
  MachineToken,
  MachineView,
  TokenWish,
} from "../../protocol/machines.ts";
import type { ToRotate } from "../../protocol/sharing.ts";
import { toRotate } from "../sharing.ts";
import type { Workspace } from "../workspace.ts";

/** The fingerprint of a public key as six words. */
export type WordsOf = (publicKey: string) => Promise<string>;

/** The applications, and the folders that the person may give to their machines. */
export async function applicationsView({ client }: Workspace): Promise<ApplicationsView> {
  const [applications, folders] = await Promise.all([client.applications.list(), client.folders.list()]);
  return {
    applications: applications.map(({ id, name }) => ({ id, name })),
    folders: folders
      .filter(({ permission, problem }) => permission === "manage" && problem === null)
      .map(({ id, name }) => ({ id, name })),
  };
}

/** The machines of an application, and its tokens that no machine has used. */
export async function applicationView({ client }: Workspace, id: string, wordsOf: WordsOf): Promise<ApplicationView> {
  const [machines, tokens, folders] = await Promise.all([
    client.machines.list(id),
    client.tokens.list(id),
    client.folders.list(),
  ]);
  // The name of a folder that the person uses is that of its history.
  const names = new Map(folders.map((folder) => [folder.id, folder.name]));
  const views = machines.map(async (machine): Promise<MachineView> => ({
    id: machine.client_id,
    name: machine.name,
    status: machine.status,
    words: await wordsOf(machine.public_key),
    lastUsedAt: machine.last_used_at,
    ip: machine.last_ip,
    expiresAt: machine.expires_at,
    folders: machine.folders.map((folder) => ({
      id: folder.id,
      name: names.get(folder.id) ?? folder.name ?? folder.id,
      permission: folder.permission,
    })),
  }));
  return {
    machines: await Promise.all(views),
    tokens: tokens
      .filter(({ status }) => status === "unused")
      .map(({ id: tokenId, name, expires_at: expiresAt }) => ({ id: tokenId, name, expiresAt })),
  };
}

/** Deletes an application with its machines. `rotate`: the folders that these machines had. */
export async function removeApplication(
  workspace: Workspace,
  id: string,
): Promise<{ view: ApplicationsView; rotate: ToRotate[] }> {
  const { client } = workspace;
  const machines = await client.machines.list(id);
  await client.applications.remove(id);
  const rotate = await Promise.all(machines.map(({ client_id: clientId }) => rotationsAfter(workspace, clientId)));
  const folders = new Map(rotate.flat().map((each) => [each.id, each]));
  return { view: await applicationsView(workspace), rotate: [...folders.values()] };
}

/** Ends a machine's access at once. `rotate`: the folders that it had. */
export async function revokeMachine(
  workspace: Workspace,
  { applicationId, clientId }: Parameters<Calls["revokeMachine"]>[0],
  wordsOf: WordsOf,
): Promise<{ application: ApplicationView; rotate: ToRotate[] }> {
  await workspace.client.machines.remove(applicationId, clientId);
  const rotate = await rotationsAfter(workspace, clientId);
  return { application: await applicationView(workspace, applicationId, wordsOf), rotate };
}

async function rotationsAfter({ client }: Workspace, clientId: string): Promise<ToRotate[]> {
  return toRotate(await client.stillNaming(`client:${clientId}`));
}

/** Makes a one-time token for a new machine, and the application when it does not exist yet. */
export async function createMachineToken({ client }: Workspace, wish: TokenWish): Promise<MachineToken> {
  const { application, folders, networks, expiresAt, machineExpiresAt } = wish;
  const present = (await client.applications.list()).find(({ name }) => name === application);
  const { id: applicationId } = present ?? (await client.applications.create(application));
  const made = await client.tokens.create({
    applicationId,
    name: application,
    folders,
    expiresAt: expiresAt ?? undefined,
    clientExpiresAt: machineExpiresAt ?? undefined,
    allowedCidrs: networks.length === 0 ? undefined : networks,
  });
  return { token: made.token, expiresAt: made.expires_at };
}
