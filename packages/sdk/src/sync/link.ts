import { isErrorCode } from "@coffer/contract";
import { CofferError } from "../errors.ts";
import type { VaultStore } from "../vaults/vault-store.ts";
import { noOffers, planAcceptance } from "./acceptance-plan.ts";
import { connect, deadLink } from "./connection.ts";
import type { WebSocketConstructor } from "./connection.ts";
import { watchPings } from "./watch-pings.ts";
import { readMessage } from "./messages.ts";
import type { Push, SyncAnswer } from "./messages.ts";
import { setVaults } from "./replica.ts";
import type { Replica, Step } from "./replica.ts";
import { shortVaults } from "./short-vaults.ts";
import { stepOfAnswer } from "./step-of-answer.ts";
import { asOnePush, keyOfPush, stepOfPushes } from "./step-of-pushes.ts";

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

export interface Link {
  readonly ended: Promise<LinkEnd>;
  /** Ends it as soon as no page is pending. */
  retire(): void;
  /** Reports changes that could not be opened before and can be now. */
  reportLate(): void;
  end(): void;
}

const answerMilliseconds = 60_000;
/**
 * The service pings every 30 s. Where pings are not visible, only a request shows that the service
 * is alive, and costs it some work.
 */
const quietWithPings = 45_000;
const quietWithoutPings = 120_000;
export const mostPerPage = 1000;
/** The tick of `planAcceptance`: no push reports what the person accepts on another device. */
const acceptMilliseconds = 10_000;
/** The service counts requests over a minute. */
const longestWait = 60;

/**
 * One connection, from its first sync to its end. Messages are processed in order, one at a time.
 */
export function openLink(of: LinkOf, token: string): Link {
  const { replica, vaults } = of;
  const pending = new Map<string, Push>();
  const end: LinkEnd = { code: 0, synced: false };
  // The first request is sent as soon as the connection opens. Until its response, the connection
  // is not retired.
  let pendingRequest: { first: boolean; everything: boolean } | undefined = { first: true, everything: false };
  let awaiting = false;
  let resetting = false;
  let listed = false;
  const short = shortVaults(replica, of.recounted);
  let retiring = false;
  let draining = false;
  let work: Promise<void> = Promise.resolve();
  let answerTimer: ReturnType<typeof setTimeout> | undefined;
  let quietTimer: ReturnType<typeof setTimeout> | undefined;

  const fail = (error: unknown): void => {
    end.error ??= error;
    connection.end(1000);
  };
  const enqueue = (task: () => Promise<void>): void => {
    work = work.then(() => (end.error === undefined ? task() : undefined)).catch(fail);
  };

  const take = (step: Step): Promise<void> =>
    of.take(() => {
      const changes = step();
      for (const change of changes) {
        // The key of an invisible vault is dropped too.
        if (change.action === "vault_deleted") vaults.forget(change.vault_id);
        if (change.action === "vault_created") short.count(change.vault_id);
      }
      return changes;
    });

  const request = (first: boolean): void => {
    if (connection.isOver()) return;
    pendingRequest = { first, everything: first && replica.serverTime === undefined };
    awaiting = true;
    answerTimer = setTimeout(() => connection.end(deadLink), answerMilliseconds);
    const since = replica.serverTime === undefined ? {} : { last_sync: replica.serverTime };
    connection.send({ type: "sync_request", ...since, limit: of.limit });
  };

  /** The request must be repeated later. The replica is valid. */
  const wait = (seconds: number): void => {
    if (pendingRequest === undefined) return;
    const { first } = pendingRequest;
    clearTimeout(answerTimer);
    awaiting = false;
    if (retiring) connection.end(1000);
    else answerTimer = setTimeout(() => request(first), Math.min(seconds, longestWait) * 1000);
  };

  // The next connection repeats what a closed one received. Nothing new is started for it.
  const takeAnswer = async (answer: SyncAnswer): Promise<void> => {
    if (pendingRequest === undefined || connection.isOver()) return;
    // Each page of a full response has `reset`. The first of them may come in the middle of a sync.
    const full = answer.reset ? !resetting : pendingRequest.first && pendingRequest.everything;
    if (!listed) {
      // Requested after the service has started to push changes to this connection, so that no
      // change is missed.
      const views = (await vaults.list()).map(({ view }) => view);
      await take(() => setVaults(replica, views));
      for (const { id } of views) short.count(id);
      listed = true;
    }
    const step = await stepOfAnswer(replica, vaults, answer, full);
    resetting = answer.has_more && (resetting || answer.reset);
    await take(step);
    if (answer.has_more) {
      // The next connection would restart a full sync, so continue while the token is valid.
      if (retiring && !resetting) connection.end(1000);
      else request(false);
      return;
    }
    if (short.areThere()) {
      listed = false;
      if (retiring) connection.end(1000);
      else request(true);
      return;
    }
    pendingRequest = undefined;
    end.synced = true;
    of.onLive();
    if (retiring) connection.end(1000);
    else await drain();
  };

  const drain = async (): Promise<void> => {
    draining = false;
    if (pendingRequest !== undefined || pending.size === 0 || connection.isOver()) return;
    const pushes = [...pending.values()];
    pending.clear();
    const { step, sync } = await stepOfPushes(replica, vaults, pushes);
    await take(step);
    if (sync) request(true);
  };

  const takePush = (push: Push): void => {
    if (push.action === "logout") {
      end.logout = push.reason ?? "revoked";
      connection.end(1000);
    } else if (push.action === "folder_updated") {
      const { folder_id: folderId, change } = push;
      // In order with all other messages, and so that an exception of the listener is not lost in
      // an event.
      const event = { action: push.action, folder_id: folderId ?? "", change: change ?? "metadata" } as const;
      if (folderId !== null) enqueue(() => take(() => [event]));
    } else {
      const key = keyOfPush(push);
      const one = asOnePush(pending.get(key), push);
      pending.delete(key);
      pending.set(key, one);
      if (!draining && pendingRequest === undefined) {
        draining = true;
        enqueue(drain);
      }
    }
  };

  let acceptance = noOffers;
  const acceptTimer = setInterval(() => {
    const isOffer = (id: string): boolean => vaults.known(id)?.keyError?.code === "not_accepted";
    acceptance = planAcceptance(acceptance, listed ? [...replica.vaults.keys()].filter(isOffer) : []);
    if (acceptance.due) enqueue(() => vaults.list().then(() => undefined));
  }, acceptMilliseconds);

  const onSign = (): void => {
    clearTimeout(quietTimer);
    quietTimer = setTimeout(() => {
      if (pendingRequest === undefined) request(true);
      else onSign();
    }, quiet);
  };

  const connection = connect(of.Socket, of.url, token, {
    onOpen() {
      onSign();
      request(true);
    },
    onMessage(data) {
      onSign();
      const message = readMessage(data);
      if (message === null) fail(new CofferError("bad_answer", "the sync channel said something that is no message"));
      else if (message?.type === "push") takePush(message);
      else if (message?.type === "error" && message.retryAfterSeconds !== null) wait(message.retryAfterSeconds);
      else if (message?.type === "error") {
        // The service did not understand the request. The next one asks for everything.
        replica.serverTime = undefined;
        fail(new CofferError(isErrorCode(message.error) ? message.error : "bad_answer", message.message));
      } else if (message !== undefined) {
        clearTimeout(answerTimer);
        awaiting = false;
        of.limit = Math.min(of.limit * 2, mostPerPage);
        enqueue(() => takeAnswer(message));
      }
    },
  });
  const unwatch = watchPings(connection.socket, onSign);
  const quiet = of.quietMilliseconds ?? (unwatch === undefined ? quietWithoutPings : quietWithPings);

  return {
    ended: connection.closed.then(async (code) => {
      unwatch?.();
      clearInterval(acceptTimer);
      await work;
      // Running work may have sent another request.
      clearTimeout(answerTimer);
      clearTimeout(quietTimer);
      // A page that never arrived may have been too large for this connection.
      if (awaiting && (code === 1006 || code === 1009 || code === deadLink)) of.limit = Math.ceil(of.limit / 4);
      // On another connection the continuation of a full response could not be distinguished from
      // its start.
      if (resetting) replica.serverTime = undefined;
      return { ...end, code };
    }),
    retire() {
      retiring = true;
      if (pendingRequest === undefined) connection.end(1000);
    },
    reportLate: () => enqueue(() => take(() => [])),
    end: () => connection.end(1000),
  };
}
