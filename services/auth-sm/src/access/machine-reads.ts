import type { Actor } from "@coffer/http";
import { ServiceError } from "@coffer/errors";
import { callingClientOf, type Machine } from "../callers/machine.ts";
import type { Deps } from "../deps.ts";
import type { ClientState } from "../store/machines/clients.ts";
import type { Batch, ListedSecret } from "../store/secrets/secret-batches.ts";
import type { FieldRow, GrantedNotation, NotationQuery, SeenClient } from "../store/secrets/secret-reads.ts";
import type { ScopedClient } from "../store/secrets/secret-scopes.ts";
import type { SecretRow } from "../store/secrets/secrets.ts";
import { type ActiveClient, activeClient } from "./client.ts";
import { opened } from "./opened.ts";
import { secretNotFound } from "./secret.ts";

/** A secret that a machine may read, and the machine as the audit names it. */
interface ReadableSecret<Row> {
  orgId: string;
  actor: Actor;
  secret: Row;
}

/**
 * The secret with this uid.
 * @throws ServiceError `secret_not_found` when the organization has none or it has expired,
 * `access_denied` without a grant on its folder, and what `activeClient` throws
 */
export async function requireReadableSecret(
  deps: Deps,
  caller: Machine,
  uid: string,
): Promise<ReadableSecret<SecretRow>> {
  return readableSecret(caller, opened(await deps.reads.secret(callingClientOf(deps, caller), uid)));
}

/** One field of the secret with this uid. Throws like `requireReadableSecret`. */
export async function requireReadableField(
  deps: Deps,
  caller: Machine,
  { uid, field }: { uid: string; field: string },
): Promise<ReadableSecret<FieldRow>> {
  return readableSecret(caller, opened(await deps.reads.field(callingClientOf(deps, caller), uid, field)));
}

function readableSecret<Row extends { uid: string; permission: string | null }>(
  caller: Machine,
  row: (ClientState & (Row | { uid: null; permission: null })) | null,
): ReadableSecret<Row> {
  const { orgId, actor, client } = activeClient(caller, row);
  if (client.uid === null) throw secretNotFound(caller);
  if (client.permission === null) throw noGrant();
  return { orgId, actor, secret: client };
}

/**
 * What a notation names: the folder and the secret may be absent.
 * @throws ServiceError `access_denied` without a grant on the folder, and what `activeClient` throws
 */
export async function requireReadableNotation(
  deps: Deps,
  caller: Machine,
  query: NotationQuery,
): Promise<ActiveClient<GrantedNotation>> {
  const active = activeClient(caller, opened(await deps.reads.notation(callingClientOf(deps, caller), query)));
  if (active.client.folder_id !== null && active.client.permission === null) throw noGrant();
  return active;
}

/** The machine as it sees itself, with its folders. Throws what `activeClient` throws. */
export async function requireSeenClient(deps: Deps, caller: Machine): Promise<SeenClient> {
  return activeClient(caller, opened(await deps.reads.client(callingClientOf(deps, caller)))).client;
}

/** A digest of all that the machine can see. Throws like `readableBatch`. */
export async function requireVisibleDigest(deps: Deps, caller: Machine, folderId: string | undefined): Promise<string> {
  const state = opened(await deps.reads.digest(callingClientOf(deps, caller), folderId));
  return clientInScope(caller, state).client.digest;
}

/**
 * The secrets of a batch, which the machine may read.
 * @throws ServiceError `access_denied` without a grant on the folder that the request names, whether
 * or not it exists, and what `activeClient` throws
 */
export function readableBatch<Row extends ListedSecret>(
  caller: Machine,
  batch: Batch<ScopedClient, Row>,
): { orgId: string; actor: Actor; rows: readonly Row[] } {
  const { orgId, actor } = clientInScope(caller, batch.caller);
  return { orgId, actor, rows: opened(batch.rows) };
}

function clientInScope<State extends ClientState & { folder_granted: boolean }>(
  caller: Machine,
  state: State | null,
): ActiveClient<State> {
  const active = activeClient(caller, state);
  if (!active.client.folder_granted) throw noGrant();
  return active;
}

function noGrant(): ServiceError {
  return new ServiceError("access_denied", "this client has no access to the folder");
}
