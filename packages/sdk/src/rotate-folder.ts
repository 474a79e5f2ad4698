import { contexts, newKey, seal } from "@coffer/crypto";
import { askedFor } from "./asked-for.ts";
import type { FolderSummary } from "./create-folder.ts";
import { CofferError } from "./errors.ts";
import { fingerprintOf, requireConfirmed } from "./public-key.ts";
import type { ConfirmKey } from "./public-key.ts";
import { resealSecret } from "./reseal-secret.ts";
import type { Resealed, UnopenedSecret } from "./reseal-secret.ts";
import { dataOf } from "./secret-store.ts";
import type { OpenFolder, SecretStore } from "./secret-store.ts";
import type { HolderView, SecretView } from "./views.ts";

/** How often a rotation begins anew because somebody wrote in between. */
const attempts = 5;

/** A folder as it is after its rotation. */
export type RotatedFolder = FolderSummary & {
  /** To whom the new key was sealed, as the service lists them. */
  holders: HolderView[];
  /** Secrets with parts that the present key did not open. Those parts are stored unchanged, and open with no new key. */
  unopened: UnopenedSecret[];
};

/** How many secrets are sealed at once: each may need a request. */
const atOnce = 16;

/**
 * Gives a folder a new key: sealed to everybody who holds the present one, and every secret's own key, title and fields
 * under it. It lands whole or not at all. Who was taken off the folder before can open nothing that is written from then
 * on; what they had read, they may have kept.
 * A secret that does not open stops nothing: `unopened` names it.
 * Throws CofferError `no_key` when the present key was not sealed to the caller, `access_denied` when a holder's key is not
 * confirmed or the caller does not manage the folder, `conflict` when others keep writing, `bad_answer` when the answer does
 * not say that it was done.
 */
export async function rotateFolder(store: SecretStore, folderId: string, confirm: ConfirmKey): Promise<RotatedFolder> {
  const path = `/api/org/folders/${encodeURIComponent(folderId)}`;
  const confirmed = new Set<string>();
  // Once for each holder, however often a rotation begins anew, and not for each key: who holds it is asked too.
  const confirmOnce: ConfirmKey = async (holder) => {
    const one = JSON.stringify([holder.kind, holder.id, holder.name, holder.public_key]);
    if (confirmed.has(one)) return true;
    const is = await confirm(holder);
    if (is) confirmed.add(one);
    return is;
  };
  for (let attempt = 1; ; attempt += 1) {
    const folder = (await store.folders(true)).find(({ id }) => id === folderId);
    if (folder === undefined) throw new CofferError("not_found", `there is no folder ${folderId} that you may use`);
    const holders = dataOf(await store.send({ method: "GET", path: `${path}/members` })) as HolderView[];
    const views = dataOf(await store.send({ method: "GET", path: store.pathIn(folderId) })) as SecretView[];
    try {
      const { body, unopened } = await rotation(store, folder, holders, views, confirmOnce);
      const answer = await store.send({ method: "POST", path: `${path}/rotate`, body });
      const rotated = askedFor<FolderSummary>(answer, { id: folderId });
      if (folder.keyVersion !== undefined && rotated.key_version !== folder.keyVersion + 1)
        throw new CofferError("bad_answer", `the service does not say that ${folder.name} has a new key`, {
          status: answer.status,
        });
      await store.folders(true);
      return { ...rotated, holders, unopened };
    } catch (error) {
      if (!(error instanceof CofferError) || error.code !== "conflict" || attempt >= attempts) throw error;
    }
  }
}

async function rotation(
  store: SecretStore,
  folder: OpenFolder,
  holders: readonly HolderView[],
  views: readonly SecretView[],
  confirm: ConfirmKey,
): Promise<{ body: object; unopened: UnopenedSecret[] }> {
  const key = newKey();
  const users: object[] = [];
  const clients: object[] = [];
  for (const { kind, id, name, public_key } of holders) {
    const holder = { kind, id, name, public_key, fingerprint: await fingerprintOf(public_key) };
    await requireConfirmed(holder, confirm);
    const sealed = await seal(public_key, key, contexts.sharedFolderKey(folder.id));
    if (kind === "user") users.push({ user_id: id, encrypted_key: sealed });
    else clients.push({ client_id: id, encrypted_key: sealed });
  }
  const secrets: Resealed[] = [];
  for (let start = 0; start < views.length; start += atOnce) {
    const next = views.slice(start, start + atOnce).map((view) => resealSecret(store, view, folder, key));
    secrets.push(...(await Promise.all(next)));
  }
  const unopened = views.map(({ uid }, index) => ({ uid, parts: secrets[index]?.unopened ?? [] }));
  return {
    body: {
      key_version: folder.keyVersion,
      encrypted_keys: { users, clients },
      secrets: secrets.map(({ body }) => body),
    },
    unopened: unopened.filter(({ parts }) => parts.length > 0),
  };
}
