import type { RecordType } from "@coffer/contract";
import type { SecretPayload } from "@coffer/crypto";
import { CofferError } from "../errors.ts";
import { foldersFor, requireFolder } from "../folders/fresh-folders.ts";
import { requireRequested } from "../http/require-requested.ts";
import type { SecretView, WriteView } from "../views.ts";
import { findSecret } from "./find-secret.ts";
import type { Notation } from "./notation.ts";
import { openPayload, openTitle, sealSecret } from "./sealed-secret.ts";
import { dataOf } from "../http/list-answer.ts";
import type { OpenFolder, SecretStore } from "./secret-store.ts";
import { freeUid } from "./secret-uid.ts";

export interface SetOptions {
  /** The type of a new secret; an existing one keeps its type. Default `api_credential`. */
  type?: RecordType | undefined;
  /**
   * When the secret expires, RFC 3339, in the future; null for never. Undefined keeps the moment of
   * an existing secret.
   */
  expiresAt?: string | null | undefined;
}

export interface SetResult extends WriteView {
  created: boolean;
}

/** How often a change restarts after a concurrent change of the same secret. */
const rounds = 10;

/**
 * Sets one field of a secret and keeps the others: reads, changes and writes, and restarts after a
 * concurrent write. Creates the secret when the folder has none with that title.
 */
export async function setField(
  store: SecretStore,
  notation: Notation,
  value: string,
  options: SetOptions,
): Promise<SetResult> {
  if (!/^\P{Cc}{1,128}$/u.test(notation.field))
    throw new CofferError("invalid_request", "the name of a field has 1 to 128 characters and no control characters");
  return overAgain(store, async () => {
    const { folder, views, view } = await find(store, notation);
    if (view === undefined) return { ...(await create(store, folder, views, notation, value, options)), created: true };
    if (view.expired === true && options.expiresAt === undefined) throw notRenewed(view);
    const payload = await openPayload(view, folder);
    const changed = { ...payload, fields: { ...payload.fields, [notation.field]: value } };
    return { ...(await replace(store, folder, view, changed, options.expiresAt)), created: false };
  });
}

/**
 * Removes one field of a secret, and the secret with its last field. Throws CofferError
 * `secret_not_found`.
 */
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
      // Only this version: a concurrently added field must survive.
      await destroy(store, folder.id, view.uid, view.version);
      return { uid: view.uid, removed: "secret" };
    }
    await replace(store, folder, view, { ...payload, fields });
    return { uid: view.uid, removed: "field" };
  });
}

/**
 * Sets when a secret expires, RFC 3339, in the future; null for never. Its fields stay as they are,
 * also those that another client writes meanwhile.
 */
export async function setExpiry(store: SecretStore, uid: string, expiresAt: string | null): Promise<WriteView> {
  return overAgain(store, async () => {
    const view = await store.one(uid);
    const folder = (await foldersFor(store, [view])).find(({ id }) => id === view.folder_id);
    if (folder === undefined) throw new CofferError("access_denied", "access to the folder was taken away meanwhile");
    return replace(store, folder, view, await openPayload(view, folder), expiresAt);
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
  // Without secrets the folder's key version is unconfirmed: the key at hand may be from before a
  // rotation.
  const isConfirmed = views.some(({ folder_id }) => folder_id === id);
  if (folder?.keyVersion === undefined || !isConfirmed) folder = (await store.folders(true)).find(isIt);
  if (folder === undefined) throw new CofferError("access_denied", "access to the folder was taken away meanwhile");
  return { folder, views, view: await findSecret(views, folder, notation.title, store.unsealedTitles) };
}

/** The secrets of one folder, from the service. */
async function listOf(store: SecretStore, folderId: string): Promise<SecretView[]> {
  const answer = await store.send({ method: "GET", path: store.pathIn(folderId), query: { folder_id: folderId } });
  return dataOf<SecretView>(answer);
}

/**
 * Creates a secret under a uid that is derived from its title. So concurrent calls, or a retry
 * after a lost response, do not create two: the uid is taken, which throws `conflict`. A machine
 * does not see an expired secret with the title, whose uid is taken too: it takes the next one.
 */
async function create(
  store: SecretStore,
  folder: OpenFolder,
  views: readonly SecretView[],
  { title, field }: Notation,
  value: string,
  { type = "api_credential", expiresAt }: SetOptions,
): Promise<WriteView> {
  const taken = new Set(views.map((view) => view.uid));
  for (let hidden = 0; ; hidden += 1) {
    const uid = await freeUid(folder, title, taken);
    const sealed = await sealSecret(folder, uid, title, { name: title, fields: { [field]: value } });
    const body = { uid, folder_id: folder.id, record_type: type, title, expires_at: expiresAt, ...sealed };
    try {
      const answer = await store.send({ method: "POST", path: store.pathIn(folder.id), body, repeatable: true });
      return requireExpiry(requireRequested<WriteView>(answer, { uid, folder_id: folder.id }), expiresAt);
    } catch (error) {
      if (!(error instanceof CofferError) || error.code !== "invalid_request") throw error;
      if (await isThere(store, uid))
        throw new CofferError("conflict", "another client created the same secret at the same time", { cause: error });
      if (!namesUid(error)) throw error;
      if (hidden === mostHidden) throw allExpired(title, hidden + 1);
      taken.add(uid);
    }
  }
}

/** So many expired secrets of one title are passed over, each with a request. */
const mostHidden = 10;

/** Whether a uid is taken by a secret that this machine does not see: it has expired. */
function namesUid({ details = [] }: CofferError): boolean {
  return details.some(({ field }) => field === "uid");
}

function allExpired(title: string, count: number): CofferError {
  return new CofferError(
    "invalid_request",
    `at least ${count} secrets with the title ${title} have expired: a member of the folder must delete them`,
  );
}

function notRenewed({ uid, expires_at }: SecretView): CofferError {
  return new CofferError(
    "invalid_request",
    `the secret ${uid} expired at ${expires_at ?? "some time"}, nothing was written: ` +
      "renew it with a new time (--expires), or machines will not get the value",
  );
}

/** Throws CofferError `bad_answer` when the service did not store the moment of expiry. */
function requireExpiry(written: WriteView, expiresAt: string | null | undefined): WriteView {
  const stored = written.expires_at ?? null;
  const isStored =
    expiresAt == null ? stored === null : stored !== null && Date.parse(stored) === Date.parse(expiresAt);
  if (expiresAt === undefined || isStored) return written;
  throw new CofferError(
    "bad_answer",
    `the service stored the secret ${written.uid} without the time of its expiry: it may be of an earlier version`,
  );
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
 * Deletes a secret. One that is gone already counts as deleted. With a version only that version;
 * throws `precondition_failed` for another.
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
  expiresAt?: string | null,
): Promise<WriteView> {
  const sealed = await sealSecret(folder, view.uid, await openTitle(view, folder), payload);
  const answer = await store.send({
    method: "PUT",
    path: pathOf(store, folder.id, view.uid),
    headers: { "if-match": `"${view.version}"` },
    body: { ...sealed, expires_at: expiresAt },
  });
  return requireExpiry(requireRequested<WriteView>(answer, { uid: view.uid, folder_id: folder.id }), expiresAt);
}

/**
 * Repeats a read-change-write after a concurrent write: 412 for the version, 409 for a rotated key.
 */
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
