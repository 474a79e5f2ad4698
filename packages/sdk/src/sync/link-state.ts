import type { VaultStore } from "../vaults/vault-store.ts";
import { type Connection, deadLink, type WebSocketConstructor } from "./connection.ts";
import type { Push } from "./messages.ts";
import type { Replica, Step } from "./replica.ts";
import type { ShortVaults } from "./short-vaults.ts";

/** The state that a connection works on, and its callbacks. */
export interface LinkOf {
  replica: Replica;
  vaults: VaultStore;
  Socket: WebSocketConstructor;
  url: string;
  /** How many changes a request asks for. Halved and doubled as the connection allows. */
  limit: number;
  /** Vaults for which a full sync was requested already. */
  recounted: Set<string>;
  /** The silence of the service after which a request checks the connection. */
  quietMilliseconds: number | undefined;
  /**
   * Applies a step to the replica and notifies the listener. Rejects with what the listener throws.
   */
  take(step: Step): Promise<void>;
  /** Called when everything up to the request has been received. */
  onLive(): void;
}

export interface LinkEnd {
  /** The close code. */
  code: number;
  /** Whether a complete response was received. */
  synced: boolean;
  /** The reason of a logout. */
  logout?: string;
  /** An error on this side of the connection. */
  error?: unknown;
}

/** One connection. */
export interface LinkState {
  readonly of: LinkOf;
  readonly connection: Connection;
  readonly short: ShortVaults;
  /** Pushes that wait for the end of the sync, by the object that they are about. */
  readonly pushes: Map<string, Push>;
  readonly end: LinkEnd;
  /** The sync that is not complete. Until then the connection is not retired. */
  pending: { first: boolean; everything: boolean } | undefined;
  /** Whether a request has no response yet. */
  awaiting: boolean;
  /** Whether pages of a full response are still to come. */
  resetting: boolean;
  /** Whether the vaults are listed. */
  listed: boolean;
  retiring: boolean;
  /** Whether the pushes are about to be applied. */
  draining: boolean;
  /** The processing of messages, one after another. */
  work: Promise<void>;
  /** The number of messages that wait for it. */
  queued: number;
  answerTimer: ReturnType<typeof setTimeout> | undefined;
}

const answerMilliseconds = 60_000;
/** The service counts requests over a minute, and names whole seconds. */
const [shortestWaitSeconds, longestWaitSeconds] = [1, 60];

export function fail({ end, connection }: LinkState, error: unknown): void {
  end.error ??= error;
  connection.end(1000);
}

/** Runs a task after all earlier ones, unless one has failed. */
export function enqueue(link: LinkState, task: () => Promise<void>): void {
  link.queued += 1;
  link.work = link.work
    .then(() => (link.end.error === undefined ? task() : undefined))
    .catch((error: unknown) => fail(link, error))
    .finally(() => (link.queued -= 1));
}

/** Applies a step to the replica. */
export function take({ of, short }: LinkState, step: Step): Promise<void> {
  return of.take(() => {
    const changes = step();
    for (const change of changes) {
      // The key of an invisible vault is dropped too.
      if (change.action === "vault_deleted") of.vaults.forget(change.vault_id);
      if (change.action === "vault_created") short.count(change.vault_id);
    }
    return changes;
  });
}

/** Requests the changes since the last response; `first` begins a sync. */
export function request(link: LinkState, first: boolean): void {
  const { of, connection } = link;
  const { serverTime } = of.replica;
  if (connection.isOver()) return;
  link.pending = { first, everything: first && serverTime === undefined };
  link.awaiting = true;
  link.answerTimer = setTimeout(() => connection.end(deadLink), answerMilliseconds);
  const since = serverTime === undefined ? {} : { last_sync: serverTime };
  connection.send({ type: "sync_request", ...since, limit: of.limit });
}

/** The request must be repeated later. The replica is valid. */
export function repeatLater(link: LinkState, seconds: number): void {
  if (link.pending === undefined) return;
  const { first } = link.pending;
  clearTimeout(link.answerTimer);
  link.awaiting = false;
  const wait = Math.max(shortestWaitSeconds, Math.min(seconds, longestWaitSeconds));
  if (link.retiring) link.connection.end(1000);
  else link.answerTimer = setTimeout(() => request(link, first), wait * 1000);
}
