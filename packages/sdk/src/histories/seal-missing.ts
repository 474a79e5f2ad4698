import { contexts, seal } from "@coffer/crypto";
import { CofferError } from "../errors.ts";
import { dataOf } from "../secret-store.ts";
import type { OpenFolder } from "../secret-store.ts";
import type { ApiAnswer, ApiRequest } from "../transport.ts";
import type { ApplicationView, HolderView, MachineView } from "../views.ts";
import { confirmedKey } from "./confirmed-key.ts";
import type { Histories } from "./histories.ts";

type Send = (request: ApiRequest) => Promise<ApiAnswer>;

/**
 * Seals a folder's key to the holders that the history names and that have no sealed key yet, such as a machine that joined.
 * A holder whose key is not confirmed gets none. What the service refuses is tried again when the folder is opened next.
 * Returns how many were sealed.
 */
export async function sealMissing(send: Send, histories: Histories, folder: OpenFolder): Promise<number> {
  const res = `folder:${folder.id}` as const;
  const known = await histories.known(res);
  if (folder.key === null || known?.sealed_until === known?.pin.seq) return 0;
  const { state } = await histories.newest(res);
  if (state.ver !== folder.keyVersion) return 0;
  const { state: organization } = await histories.newest(`org:${state.org ?? ""}`);
  const path = `/api/org/folders/${folder.id}`;
  const listed = dataOf(await send({ method: "GET", path: `${path}/members` })) as HolderView[];
  let sealed = 0;
  let left = state.holders.filter(({ who }) => !listed.some(({ kind, id }) => `${kind}:${id}` === who)).length;
  for (const { kind, id } of listed.filter(({ has_key }) => has_key === false)) {
    const who = `${kind}:${id}`;
    const key = confirmedKey(organization, state, who);
    const holder = state.holders.find((one) => one.who === who);
    const at = kind === "user" ? `${path}/members/${id}` : await machinePath(send, id, folder.id);
    if (key === undefined || holder === undefined || at === undefined) {
      left += 1;
      continue;
    }
    const encryptedKey = await seal(key, folder.key, contexts.sharedFolderKey(folder.id));
    const body = { permission: holder.perm, encrypted_key: encryptedKey, key_version: folder.keyVersion };
    try {
      await send({ method: "PUT", path: at, body });
      sealed += 1;
    } catch (error) {
      if (!(error instanceof CofferError) || error.status === undefined) throw error;
      left += 1;
    }
  }
  if (left === 0)
    await histories.keep(res, (before) => ({
      ...(before as NonNullable<typeof before>),
      sealed_until: state.head.seq,
    }));
  return sealed;
}

/** Where a machine's grant is; undefined when the caller may not see the machine. */
async function machinePath(send: Send, clientId: string, folderId: string): Promise<string | undefined> {
  try {
    const root = "/api/org/applications";
    for (const { id } of dataOf(await send({ method: "GET", path: root })) as ApplicationView[]) {
      const machines = dataOf(await send({ method: "GET", path: `${root}/${id}/clients` })) as MachineView[];
      if (machines.some((one) => one.client_id === clientId))
        return `${root}/${id}/clients/${clientId}/folders/${folderId}`;
    }
  } catch (error) {
    if (!(error instanceof CofferError) || error.code !== "access_denied") throw error;
  }
  return undefined;
}
