import { CofferError } from "../errors.ts";
import { enqueue, type LinkState, request, take } from "./link-state.ts";
import type { Push, SyncAnswer } from "./messages.ts";
import { setVaults } from "./replica.ts";
import { stepOfAnswer } from "./step-of-answer.ts";
import { asOnePush, keyOfPush, stepOfPushes } from "./step-of-pushes.ts";

// The next connection repeats what a closed one received. Nothing new is started for it.

/** Applies a page, and requests what is missing after it. */
export async function takeAnswer(link: LinkState, answer: SyncAnswer): Promise<void> {
  const { of, connection, pending, short } = link;
  if (pending === undefined || connection.isOver()) return;
  const isEmpty = answer.changes.length + answer.deleted.length === 0;
  if (answer.has_more && isEmpty && answer.server_time === of.replica.serverTime)
    throw new CofferError("bad_answer", "the sync channel sends pages without end");
  // Each page of a full response has `reset`. The first of them may come in the middle of a sync.
  const full = answer.reset ? !link.resetting : pending.first && pending.everything;
  if (!link.listed) await listVaults(link);
  const step = await stepOfAnswer(of.replica, of.vaults, answer, full);
  link.resetting = answer.has_more && (link.resetting || answer.reset);
  await take(link, step);
  if (answer.has_more) {
    // The next connection would restart a full sync, so continue while the token is valid.
    if (link.retiring && !link.resetting) connection.end(1000);
    else request(link, false);
    return;
  }
  if (short.areThere()) {
    link.listed = false;
    if (link.retiring) connection.end(1000);
    else request(link, true);
    return;
  }
  link.pending = undefined;
  link.end.synced = true;
  of.onLive();
  if (link.retiring) connection.end(1000);
  else await drain(link);
}

/**
 * Lists the vaults after the service has started to push changes to this connection, so that no change
 * is missed.
 */
async function listVaults(link: LinkState): Promise<void> {
  const { of, short } = link;
  const views = (await of.vaults.list()).map(({ view }) => view);
  await take(link, () => setVaults(of.replica, views));
  for (const { id } of views) short.count(id);
  link.listed = true;
}

/** Applies the pushes that have waited for the end of the sync. */
async function drain(link: LinkState): Promise<void> {
  const { of, connection, pushes } = link;
  link.draining = false;
  if (link.pending !== undefined || pushes.size === 0 || connection.isOver()) return;
  const waiting = [...pushes.values()];
  pushes.clear();
  const { step, sync } = await stepOfPushes(of.replica, of.vaults, waiting);
  await take(link, step);
  if (sync) request(link, true);
}

export function takePush(link: LinkState, push: Push): void {
  const { connection, end, pushes } = link;
  if (push.action === "logout") {
    end.logout = push.reason ?? "revoked";
    connection.end(1000);
  } else if (push.action === "folder_updated") {
    const { folder_id: folderId, change } = push;
    // In order with all other messages, and so that an exception of the listener is not lost in
    // an event.
    const event = { action: push.action, folder_id: folderId ?? "", change: change ?? "metadata" } as const;
    if (folderId !== null) enqueue(link, () => take(link, () => [event]));
  } else {
    const key = keyOfPush(push);
    const one = asOnePush(pushes.get(key), push);
    pushes.delete(key);
    pushes.set(key, one);
    if (!link.draining && link.pending === undefined) {
      link.draining = true;
      enqueue(link, () => drain(link));
    }
  }
}
