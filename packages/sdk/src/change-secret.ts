import type { SecretPayload } from "@coffer/crypto";
import { askedFor } from "./asked-for.ts";
import { CofferError } from "./errors.ts";
import { findSecret } from "./find-secret.ts";
import { foldersFor, requireFolder } from "./fresh-folders.ts";
import type { Notation } from "./notation.ts";
import { openPayload, openTitle, sealSecret } from "./sealed-secret.ts";
import { dataOf } from "./secret-store.ts";
import type { OpenFolder, SecretStore } from "./secret-store.ts";
import { freeUid } from "./secret-uid.ts";
import type { RecordType, SecretView, WriteView } from "./views.ts";

export interface SetOptions {
  /** The type of a secret that is made; one that is there keeps its own. Default `api_credential`. */
  type?: RecordType | undefined;
}

/** What a `set` wrote; `created` when the secret was not there before. */
export interface SetResult extends WriteView {
  created: boolean;
}

/** How often a change starts over because somebody else changed the same secret in between. */
const rounds = 10;

/**
 * Sets one field of a secret and leaves the others: reads, changes and writes, and starts over when the secret was
 * written by another meanwhile. Makes the secret when the folder holds none of that title.
 */
export async function setField(
  store: SecretStore,
  notation: Notation,
  value: string,
  { type = "api_credential" }: SetOptions,
): Promise<SetResult> {
  if (!/^\P{Cc}{1,128}$/u.test(notation.field))
    throw new CofferError("invalid_request", "the name of a field has 1 to 128 characters and no control characters");
  return overAgain(store, async () => {
    const { folder, views, view } = await find(store, notation);
    if (view === undefined) return { ...(await create(store, folder, views, notation, value, type)), created: true };
    const payload = await openPayload(view, folder);
    const changed = { ...payload, fields: { ...payload.fields, [notation.field]: value } };
    return { ...(await replace(store, folder, view, changed)), created: false };
  });
}

/** Removes one field of a secret, and the secret with its last field. Throws CofferError `secret_not_found`. */
export function removeField(
  store: SecretStore,
  notation: Notation,
): Promise<{ uid: string; removed: "secret" | "field" }> {
  return overAgain(store, async () => {
    const { folder, view } = await find(store, notation);
    const payload = view === undefined ? undefined : await openPayload(view, folder);
    if (view === undefined || payload === undefined || !Object.hasOwn(payload.fields, notation.field))
      throw new CofferError("secret_not_found", `${folder.name} holds no such secret or field`);
    const fields = Object.fromEntries(Object.entries(payload.fields).filter(([name]) => name !== notation.field));
    if (Object.keys(fields).length === 0) {
      // Only as it was read: another field that came meanwhile stays.
      await destroy(store, folder.id, view.uid, view.version);
      return { uid: view.uid, removed: "secret" };
    }
    await replace(store, folder, view, { ...payload, fields });
    return { uid: view.uid, removed: "field" };
  });
}

/** Removes a secret by its uid. Throws CofferError `secret_not_found`. */
export async function removeSecret(store: SecretStore, uid: string): Promise<{ uid: string; removed: "secret" }> {
  const view = await store.one(uid);
  await destroy(store, view.folder_id, uid);
  return { uid, removed: "secret" };
}

async function find(
  store: SecretStore,
  notation: Notation,
): Promise<{ folder: OpenFolder; views: SecretView[]; view: SecretView | undefined }> {
  const { id } = await requireFolder(store, notation.folder);
  const views = await listOf(store, id);
  const isIt = (folder: OpenFolder): boolean => folder.id === id;
  let folder = (await foldersFor(store, views)).find(isIt);
  // A folder without secrets says nothing of its key: the one at hand may be from before a rotation.
  const isConfirmed = views.some(({ folder_id }) => folder_id === id);
  if (folder?.keyVersion === undefined || !isConfirmed) folder = (await store.folders(true)).find(isIt);
  if (folder === undefined) throw new CofferError("access_denied", "access to the folder was taken away meanwhile");
  return { folder, views, view: await findSecret(views, folder, notation.title, store.unsealedTitles) };
}

/** The secrets of one folder, from the service. */
async function listOf(store: SecretStore, folderId: string): Promise<SecretView[]> {
  const answer = await store.send({ method: "GET", path: store.pathIn(folderId), query: { folder_id: folderId } });
  return dataOf(answer) as SecretView[];
}

/**
 * Makes a secret under the uid that its title gives, so that two that make the same one at once, or one whose answer
 * was lost, do not make two: then the uid is taken, which is thrown as `conflict`.
 */
async function create(
  store: SecretStore,
  folder: OpenFolder,
  views: readonly SecretView[],
  { title, field }: Notation,
  value: string,
  type: RecordType,
): Promise<WriteView> {
  const uid = await freeUid(folder, title, new Set(views.map((view) => view.uid)));
  const sealed = await sealSecret(folder, uid, title, { name: title, fields: { [field]: value } });
  const body = { uid, folder_id: folder.id, record_type: type, title, ...sealed };
  try {
    const answer = await store.send({ method: "POST", path: store.pathIn(folder.id), body, repeatable: true });
    return askedFor<WriteView>(answer, { uid, folder_id: folder.id });
  } catch (error) {
    const refused = error instanceof CofferError && error.code === "invalid_request";
    if (!refused || !(await isThere(store, uid))) throw error;
    throw new CofferError("conflict", "somebody else made the same secret at the same time", { cause: error });
  }
}

async function isThere(store: SecretStore, uid: string): Promise<boolean> {
  try {
    await store.one(uid);
    return true;
  } catch (error) {
    if (error instanceof CofferError && error.code === "secret_not_found") return false;
    throw error;
  }
}

/**
 * Deletes a secret that was there a moment ago: one that is gone by now, or whose answer was lost, is deleted too. With a
 * version only that one; throws `precondition_failed` for another.
 */
async function destroy(store: SecretStore, folderId: string, uid: string, version?: number): Promise<void> {
  const headers = version === undefined ? undefined : { "if-match": `"${version}"` };
  try {
    await store.send({ method: "DELETE", path: pathOf(store, folderId, uid), headers });
  } catch (error) {
    if (!(error instanceof CofferError) || error.status !== 404 || error.foreign) throw error;
  }
}

async function replace(
  store: SecretStore,
  folder: OpenFolder,
  view: SecretView,
  payload: SecretPayload,
): Promise<WriteView> {
  const answer = await store.send({
    method: "PUT",
    path: pathOf(store, folder.id, view.uid),
    headers: { "if-match": `"${view.version}"` },
    body: await sealSecret(folder, view.uid, await openTitle(view, folder), payload),
  });
  return askedFor<WriteView>(answer, { uid: view.uid, folder_id: folder.id });
}

/** Repeats a read-change-write while another's write gets in between: 412 for the version, 409 for a rotated key. */
async function overAgain<T>(store: SecretStore, change: () => Promise<T>): Promise<T> {
  for (let round = 1; ; round += 1) {
    try {
      return await change();
    } catch (error) {
      const overtaken =
        error instanceof CofferError && (error.code === "precondition_failed" || error.code === "conflict");
      if (!overtaken || round === rounds) throw error;
      if (error.code === "conflict") await store.folders(true);
    }
  }
}

function pathOf(store: SecretStore, folderId: string, uid: string): string {
  return `${store.pathIn(folderId)}/${encodeURIComponent(uid)}`;
}
