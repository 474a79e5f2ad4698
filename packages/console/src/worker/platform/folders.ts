import type { Calls } from "../../protocol/calls.ts";
import type { FoldersView } from "../../protocol/folders.ts";
import { notationOf } from "../../notation.ts";
import type { Workspace } from "../workspace.ts";

/** The folders with the titles of their secrets. No value is among it. */
export async function foldersView({ client }: Workspace): Promise<FoldersView> {
  client.secrets.expire();
  // First: the secrets are those of the folders that this has found, also of one that was just accepted.
  const folders = await client.folders.list();
  const secrets = await client.secrets.list();
  return {
    folders: folders.map(({ id, name, permission, problem }) => ({
      id,
      name,
      permission: permission ?? "read",
      problem,
    })),
    secrets: secrets.map(({ uid, title, folder_id: folderId, fields, expired, ...secret }) => {
      const { updated_at: updatedAt, expires_at: expiresAt } = secret;
      return { uid, title, folderId, fields: Object.keys(fields).sort(), updatedAt, expiresAt, expired };
    }),
  };
}

export async function createFolder(workspace: Workspace, name: string): Promise<FoldersView> {
  await workspace.client.folders.create(name);
  return foldersView(workspace);
}

/** One field of a secret, to show or copy it. */
export async function secretValue(
  { client }: Workspace,
  { uid, field }: { uid: string; field: string },
): Promise<string> {
  return (await client.secrets.get(uid)).fields[field] ?? "";
}

/** Sets one field, and makes the secret when the folder has none of this title. */
export async function setField(
  { client }: Workspace,
  { folderId, title, field, value }: Parameters<Calls["setSecret"]>[0],
): Promise<void> {
  await client.secrets.set(notationOf(folderId, title, field), value);
}
