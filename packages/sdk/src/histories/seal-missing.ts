import { type Context, contexts } from "@coffer/crypto";
import type { Resource } from "@coffer/history";
import { CofferError } from "../errors.ts";
import type { Send } from "../http/transport.ts";
import { dataOf } from "../http/list-answer.ts";
import type { OpenFolder } from "../secrets/secret-store.ts";
import { confirmedKey, sealToHolder } from "../trust/confirmed-key.ts";
import { changedIn, type Trusted } from "../trust/trust-storage.ts";
import type { ApplicationView, HolderView, MachineView } from "../views.ts";
import type { Histories } from "./histories.ts";

/** A folder or vault whose key the caller may share. */
export interface SealableKey {
  res: Resource;
  /** Null when it may not be used. */
  key: Uint8Array | null;
  keyVersion: number | undefined;
  /** The context of the sealed key. */
  context: Context;
  /** The members and machines as the service lists them. */
  listed(): Promise<{ kind: "user" | "client"; id: string; has_key?: boolean | undefined }[]>;
  /** The path of the grant; undefined when the caller may not see it. */
  pathOf(kind: "user" | "client", id: string): Promise<string | undefined>;
}

/**
 * The service is asked again after this time, without a new entry: it may have said falsely that
 * all have the key.
 */
const askAgainMilliseconds = 24 * 60 * 60 * 1000;

/**
 * Seals a key to the members and machines that the history names and that have no key yet, such as
 * a machine that joined. An unconfirmed one gets none. Errors of the service are ignored, because
 * the caller did not request this; the next opening of the folder or vault retries.
 */
export async function sealMissing(send: Send, histories: Histories, sealable: SealableKey): Promise<void> {
  try {
    await sealToAll(send, histories, sealable);
  } catch (error) {
    if (!(error instanceof CofferError)) throw error;
  }
}

async function sealToAll(send: Send, histories: Histories, sealable: SealableKey): Promise<void> {
  const { res, context } = sealable;
  const known = await histories.known(res);
  if (sealable.key === null || isSealed(known)) return;
  const { trusted, organization } = await histories.withOrganization(res);
  const { state } = trusted;
  if (state.ver !== sealable.keyVersion) return;
  const listed = await sealable.listed();
  let left = state.holders.filter(({ who }) => !listed.some(({ kind, id }) => `${kind}:${id}` === who)).length;
  for (const { kind, id } of listed.filter(({ has_key }) => has_key === false)) {
    const who = `${kind}:${id}` as const;
    const key = await confirmedKey(organization, trusted, who);
    const holder = state.holders.find((one) => one.who === who);
    const path = key === undefined ? undefined : await sealable.pathOf(kind, id);
    if (key === undefined || holder === undefined || path === undefined) {
      left += 1;
      continue;
    }
    // A removal that was seen while the service answered ends this. The next opening retries.
    if (!(await histories.isUnchanged(trusted))) return;
    const encryptedKey = await sealToHolder(key, sealable.key, context);
    const body = { permission: holder.perm, encrypted_key: encryptedKey, key_version: sealable.keyVersion };
    try {
      await send({ method: "PUT", path, body });
    } catch (error) {
      if (!(error instanceof CofferError) || error.status === undefined) throw error;
      left += 1;
    }
  }
  // Another process may have forgotten it meanwhile.
  if (left === 0)
    await histories.changeRecord((record) =>
      changedIn(record, res, (before) => ({ ...before, sealed_until: state.head.seq, sealed_at: Date.now() })),
    );
}

/** Whether the service has said lately that every member and machine of the newest entry has the key. */
function isSealed(known: Trusted | undefined): boolean {
  const age = Date.now() - (known?.sealed_at ?? -Infinity);
  return known?.sealed_until === known?.pin.seq && age >= 0 && age < askAgainMilliseconds;
}

export function sealableFolder(send: Send, { id, key, keyVersion }: OpenFolder): SealableKey {
  const path = `/api/org/folders/${id}`;
  return {
    ...{ res: `folder:${id}`, key, keyVersion, context: contexts.sharedFolderKey(id) },
    listed: async () => dataOf<HolderView>(await send({ method: "GET", path: `${path}/members` })),
    pathOf: (kind, holderId) =>
      kind === "user" ? Promise.resolve(`${path}/members/${holderId}`) : machinePath(send, holderId, id),
  };
}

/** The path of a machine's grant; undefined when the caller may not see the machine. */
async function machinePath(send: Send, clientId: string, folderId: string): Promise<string | undefined> {
  try {
    const root = "/api/org/applications";
    for (const { id } of dataOf<ApplicationView>(await send({ method: "GET", path: root }))) {
      const machines = dataOf<MachineView>(await send({ method: "GET", path: `${root}/${id}/clients` }));
      if (machines.some((one) => one.client_id === clientId))
        return `${root}/${id}/clients/${clientId}/folders/${folderId}`;
    }
  } catch (error) {
    if (!(error instanceof CofferError) || error.code !== "access_denied") throw error;
  }
  return undefined;
}
