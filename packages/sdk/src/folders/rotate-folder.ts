import { contexts, encodeText, newId } from "@coffer/crypto";
import { CofferError } from "../errors.ts";
import { deadTokenTags } from "../histories/dead-tags.ts";
import { nextKey, type RotationReport } from "../histories/next-key.ts";
import { batchesOf } from "../http/batches.ts";
import { requireRequested } from "../http/require-requested.ts";
import { type Resealed, resealSecret, type UnopenedSecret } from "../secrets/reseal-secret.ts";
import { keyOf } from "../secrets/sealed-secret.ts";
import { dataOf } from "../http/list-answer.ts";
import type { SecretStore } from "../secrets/secret-store.ts";
import type { PersonTrust } from "../trust/person-trust.ts";
import type { HolderView, SecretView } from "../views.ts";
import type { FolderSummary } from "./create-folder.ts";
import { folderAt } from "./share-folder.ts";

/** A folder after its rotation. */
export type RotatedFolder = FolderSummary &
  RotationReport & {
    /**
     * Secrets with parts that the current key did not open. Those parts are stored unchanged, and
     * no new key opens them.
     */
    unopened: UnopenedSecret[];
  };

/** How many secrets are sealed concurrently. Each may need a request. */
const atOnce = 16;
/** The service accepts 32 MiB per request. It holds a request in memory, so smaller ones are sent. */
const bytesPerRequest = 8 * 1024 * 1024;
/** Each secret of a request has at least eight of the JSON tokens that the service counts. */
const secretsPerRequest = 5_000;

/**
 * Gives a folder a new key: seals it to every member and machine that the history confirms, and
 * seals every secret under it, with a new DEK. Members and machines that the service no longer
 * lists are dropped from the history. The rotation is atomic. A person who lost access before can
 * open nothing that is written from then on, and can forge nothing together with the service, but
 * may have copied what they read. A secret that does not open is reported in `unopened`. Throws
 * CofferError `access_denied` when the caller does not manage the folder, `conflict` after repeated
 * concurrent writes, `bad_answer` when the response does not confirm the rotation.
 */
export async function rotateFolder(store: SecretStore, trust: PersonTrust, folderId: string): Promise<RotatedFolder> {
  const path = `/api/org/folders/${encodeURIComponent(folderId)}`;
  const res = `folder:${folderId}` as const;
  const rest = { isThere: false };
  const make: Parameters<typeof trust.sign<RotatedFolder>>[1] = async (trusted, organization) => {
    const { state } = trusted;
    const folder = await folderAt(store, folderId, state.ver);
    keyOf(folder);
    const holders = dataOf<HolderView>(await store.send({ method: "GET", path: `${path}/members` }));
    const views = dataOf<SecretView>(await store.send({ method: "GET", path: store.pathIn(folderId) }));
    const deadTags = await deadTokenTags(store.send, state);
    const context = contexts.sharedFolderKey(folderId);
    const { who: self } = await trust.self();
    const next = await nextKey({ send: store.send, self, organization, trusted, listed: holders, context, deadTags });
    const secrets: Resealed[] = [];
    for (let start = 0; start < views.length; start += atOnce) {
      const some = views.slice(start, start + atOnce).map((view) => resealSecret(store, view, folder, next.key));
      secrets.push(...(await Promise.all(some)));
    }
    const unopened = views.map(({ uid }, index) => ({ uid, parts: secrets[index]?.unopened ?? [] }));
    const { sealed, report, change, version } = next;
    rest.isThere = next.more;
    // Before the last check: a removal that is seen while the service delays the staging ends this.
    const staged = await stage(store, path, secrets);
    return {
      change,
      async send(entry) {
        const users = sealed.filter(({ kind }) => kind === "user");
        const clients = sealed.filter(({ kind }) => kind === "client");
        const encryptedKeys = {
          users: users.map(({ id, encrypted_key }) => ({ user_id: id, encrypted_key })),
          clients: clients.map(({ id, encrypted_key }) => ({ client_id: id, encrypted_key })),
        };
        const body = { key_version: state.ver, encrypted_keys: encryptedKeys, entry, ...staged };
        const answer = await store.send({ method: "POST", path: `${path}/rotate`, body });
        const rotated = requireRequested<FolderSummary>(answer, { id: folderId });
        if (rotated.key_version !== version)
          throw new CofferError("bad_answer", `the service does not say that ${folder.name} has a new key`, {
            status: answer.status,
          });
        const left = unopened.filter(({ parts }) => parts.length > 0);
        return { ...rotated, name: state.name, ...report, unopened: left };
      },
    };
  };
  const rotated = await trust.sign(res, make, { always: true });
  await store.folders(true);
  if (!rest.isThere) return rotated;
  const last = await rotateFolder(store, trust, folderId);
  return { ...last, dropped: [...rotated.dropped, ...last.dropped] };
}

/**
 * Stages the secrets, and returns their part of the rotation request. They are not in that request
 * itself: a service of an earlier version would ignore their payloads and store the new DEKs beside
 * the former payloads. It refuses a rotation that names no secrets. Throws CofferError `conflict`.
 */
async function stage(
  store: SecretStore,
  path: string,
  secrets: readonly Resealed[],
): Promise<{ secrets: readonly object[] } | { rotation_id: string }> {
  if (secrets.length === 0) return { secrets: [] };
  const rotationId = newId();
  const sizeOf = (body: object): number => encodeText(JSON.stringify(body)).length;
  const bodies = secrets.map(({ body }) => body);
  for (const batch of batchesOf(bodies, { items: secretsPerRequest, size: bytesPerRequest, sizeOf }))
    await store.send({ method: "PUT", path: `${path}/rotation/${rotationId}`, body: { secrets: batch } });
  return { rotation_id: rotationId };
}
