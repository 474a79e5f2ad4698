import { contexts, keyCheck, newKey, seal } from "@coffer/crypto";
import { holderOf } from "@coffer/history";
import type { HistoryState } from "@coffer/history";
import { askedFor } from "./asked-for.ts";
import type { FolderSummary } from "./create-folder.ts";
import { CofferError } from "./errors.ts";
import { confirmedKey, labelOf } from "./histories/confirmed-key.ts";
import { deadTokenTags } from "./histories/dead-tags.ts";
import type { PersonTrust } from "./histories/person-trust.ts";
import { resealSecret } from "./reseal-secret.ts";
import type { Resealed, UnopenedSecret } from "./reseal-secret.ts";
import { keyOf } from "./sealed-secret.ts";
import { dataOf } from "./secret-store.ts";
import type { SecretStore } from "./secret-store.ts";
import { folderAt } from "./share-folder.ts";
import type { HolderView, MemberView, SecretView } from "./views.ts";

/** A holder in the report of a rotation. */
export interface RotationHolder {
  kind: "user" | "client";
  id: string;
  /** The e-mail from the organization's history; of a machine the name that the service shows. */
  name: string;
}

/** A folder as it is after its rotation. */
export type RotatedFolder = FolderSummary & {
  /** To whom the new key was sealed. */
  sealed_to: RotationHolder[];
  /** Holders by the service's word to whom nothing was sealed: suspended, or not confirmed by the history. */
  left_out: RotationHolder[];
  /** Holders whose end the history says from now on. */
  dropped: RotationHolder[];
  /** Secrets with parts that the present key did not open. Those parts are stored unchanged, and open with no new key. */
  unopened: UnopenedSecret[];
};

/** How many secrets are sealed at once: each may need a request. */
const atOnce = 16;

interface Rotation {
  key: Uint8Array;
  drop: string[];
  users: { user_id: string; encrypted_key: string | null }[];
  clients: { client_id: string; encrypted_key: string | null }[];
  sealedTo: RotationHolder[];
  leftOut: RotationHolder[];
  dropped: RotationHolder[];
}

/**
 * Gives a folder a new key: sealed to every holder that the history confirms, and every secret's own key, title and fields
 * under it. Holders that the service does not list any more are dropped from the history. It lands whole or not at all.
 * Whoever was taken off the folder before can open nothing that is written from then on, and may have kept what was read.
 * A secret that does not open stops nothing: `unopened` names it.
 * Throws CofferError `access_denied` when the caller does not manage the folder, `conflict` when others keep writing, `bad_answer` when the answer does not say that it was done.
 */
export function rotateFolder(store: SecretStore, trust: PersonTrust, folderId: string): Promise<RotatedFolder> {
  const path = `/api/org/folders/${encodeURIComponent(folderId)}`;
  const res = `folder:${folderId}` as const;
  const make: Parameters<typeof trust.sign<RotatedFolder>>[1] = async ({ state }) => {
    const { state: organization } = await trust.histories.newest(`org:${state.org ?? ""}`);
    const folder = await folderAt(store, folderId, state.ver);
    keyOf(folder);
    const holders = dataOf(await store.send({ method: "GET", path: `${path}/members` })) as HolderView[];
    const views = dataOf(await store.send({ method: "GET", path: store.pathIn(folderId) })) as SecretView[];
    const { who } = await trust.self();
    const rotation = await rotationFor(store, organization, state, holders, who);
    const secrets: Resealed[] = [];
    for (let start = 0; start < views.length; start += atOnce) {
      const next = views.slice(start, start + atOnce).map((view) => resealSecret(store, view, folder, rotation.key));
      secrets.push(...(await Promise.all(next)));
    }
    const unopened = views.map(({ uid }, index) => ({ uid, parts: secrets[index]?.unopened ?? [] }));
    const version = (state.ver ?? 0) + 1;
    const { users, clients, drop, sealedTo, leftOut, dropped } = rotation;
    return {
      change: { drop, ver: version, check: await keyCheck(rotation.key, res, version) },
      async send(entry) {
        const body = { key_version: state.ver, encrypted_keys: { users, clients }, entry };
        const sent = { ...body, secrets: secrets.map((one) => one.body) };
        const answer = await store.send({ method: "POST", path: `${path}/rotate`, body: sent });
        const rotated = askedFor<FolderSummary>(answer, { id: folderId });
        if (rotated.key_version !== version)
          throw new CofferError("bad_answer", `the service does not say that ${folder.name} has a new key`, {
            status: answer.status,
          });
        const left = unopened.filter(({ parts }) => parts.length > 0);
        return { ...rotated, name: state.name, sealed_to: sealedTo, left_out: leftOut, dropped, unopened: left };
      },
    };
  };
  return trust.sign(res, make, { always: true }).then(async (rotated) => {
    await store.folders(true);
    return rotated;
  });
}

/**
 * A new key, sealed to the holders that may have it, and what the history drops. The caller has it whatever the service says:
 * a key that nobody has would lose the folder.
 */
async function rotationFor(
  { send }: SecretStore,
  organization: HistoryState,
  state: HistoryState,
  holders: readonly HolderView[],
  self: string,
): Promise<Rotation> {
  const key = newKey();
  const suspended = await suspendedMembers(send, organization);
  const rotation: Rotation = { key, drop: [], users: [], clients: [], sealedTo: [], leftOut: [], dropped: [] };
  for (const { kind, id, name } of holders) {
    const who = `${kind}:${id}`;
    const mayHave = who === self || !suspended.has(id);
    const confirmed = mayHave ? confirmedKey(organization, state, who) : undefined;
    const context = contexts.sharedFolderKey(state.res.slice("folder:".length));
    const encryptedKey = confirmed === undefined ? null : await seal(confirmed, key, context);
    const label = kind === "user" ? labelOf(organization, who) : name;
    (encryptedKey === null ? rotation.leftOut : rotation.sealedTo).push({ kind, id, name: label });
    if (kind === "user") rotation.users.push({ user_id: id, encrypted_key: encryptedKey });
    else rotation.clients.push({ client_id: id, encrypted_key: encryptedKey });
  }
  const listed = new Set(holders.map(({ kind, id }) => `${kind}:${id}`));
  const ended = state.holders.map(({ who }) => who).filter((who) => !listed.has(who));
  rotation.dropped = ended.map((who) => {
    const [kind, id] = who.split(":") as ["user" | "client", string];
    return { kind, id, name: formerLabel(organization, who) };
  });
  rotation.drop = [...ended, ...(await deadTokenTags(send, state))];
  return rotation;
}

async function suspendedMembers(send: SecretStore["send"], organization: HistoryState): Promise<Set<string>> {
  const headers = { "x-coffer-org": organization.res.slice("org:".length) };
  const members = dataOf(await send({ method: "GET", path: "/api/org/members", headers })) as MemberView[];
  return new Set(members.filter(({ status }) => status === "suspended").map(({ user_id }) => user_id));
}

function formerLabel(organization: HistoryState, who: string): string {
  return holderOf(organization, who)?.email ?? who.slice(who.indexOf(":") + 1);
}
