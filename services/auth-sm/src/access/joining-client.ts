import { ServiceError } from "@coffer/errors";
import type { Actor } from "@coffer/http";
import type { Transaction } from "@coffer/postgres";
import type { Machine } from "../callers/machine.ts";
import type { Deps } from "../deps.ts";
import { lockFolder } from "../store/folders/folders.ts";
import { findJoiningClient, holdClient } from "../store/machines/joining-clients.ts";
import { activeClient } from "./client.ts";
import { granted } from "./folder.ts";

/** A machine that may join the history of a folder. */
export interface JoiningClient {
  orgId: string;
  actor: Actor;
  publicKey: string;
  /** The hex SHA-256 of its one-time token. */
  tokenHash: string;
  permission: "read" | "write";
}

/**
 * A machine with a grant on the folder that was made with a client's one-time token. Locks the
 * folder until the transaction ends.
 * @throws ServiceError `access_denied` without the grant or such a token, and what `activeClient`
 * throws
 */
export async function requireJoiningClient(
  tx: Transaction,
  deps: Deps,
  caller: Machine,
  folderId: string,
): Promise<JoiningClient> {
  const { clientId, ip } = caller;
  const authorize = async () => {
    const found = activeClient(caller, await findJoiningClient(tx, { clientId, folderId, ip, now: deps.now() }));
    granted(found.client, "read");
    return found;
  };
  // Authorize before locking: a machine without a grant must not be able to block the folder.
  await holdClient(tx, clientId);
  const { orgId } = await authorize();
  await lockFolder(tx, { orgId, folderId }, "grants");
  const { actor, client } = await authorize();
  const { permission, public_key: publicKey, token_hash: tokenHash } = client;
  if (permission === null || tokenHash === null) {
    throw new ServiceError("access_denied", "this client was not made with a one-time token that it could join with");
  }
  return { orgId, actor, publicKey, tokenHash, permission };
}
