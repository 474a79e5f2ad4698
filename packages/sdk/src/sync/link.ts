import { CofferError, isServerCode } from "../errors.ts";
import type { VaultStore } from "../vaults/vault-store.ts";
import { connect, deadLink } from "./connection.ts";
import type { WebSocketConstructor } from "./connection.ts";
import { hearPings } from "./heard-pings.ts";
import { readMessage } from "./messages.ts";
import type { Push, SyncAnswer } from "./messages.ts";
import { setVaults } from "./replica.ts";
import type { Replica, Step } from "./replica.ts";
import { shortVaults } from "./short-vaults.ts";
import { stepOfAnswer } from "./step-of-answer.ts";
import { asOnePush, keyOfPush, stepOfPushes } from "./step-of-pushes.ts";

/** What a connection works on and whom it tells. */
export interface LinkOf {
  replica: Replica;
  vaults: VaultStore;
  Socket: WebSocketConstructor;
  url: string;
  /** How many changes are asked for at once; halved and doubled as the connection bears it. */
  limit: number;
  /** Vaults for whose sake everything was asked for anew already. */
  recounted: Set<string>;
  /** Between the last word of the service and the question whether it is still there. */
  quietMilliseconds: number | undefined;
  /** Lets a step change the replica, and tells of it. Rejects with what a listener throws. */
  take(step: Step): Promise<void>;
  /** Everything has come that was there when it was asked for. */
  onLive(): void;
}

export interface LinkEnd {
  /** The close code. */
  code: number;
  /** Whether an answer had come whole. */
  synced: boolean;
  /** The person was logged out, for this reason. */
  logout?: string;
  /** What went wrong on this side of the connection. */
  error?: unknown;
}

export interface Link {
  readonly ended: Promise<LinkEnd>;
  /** Ends it as soon as no page is on its way. */
  retire(): void;
  /** Tells what could not be told before and can be now. */
  tellLate(): void;
  end(): void;
}

const answerMilliseconds = 60_000;
/** The service pings every 30 s. Where that is not seen, only a question tells whether it is there, and costs it something. */
const quietWithPings = 45_000;
const quietWithoutPings = 120_000;
export const mostPerPage = 1000;
/** What the person accepts on another device no push tells this one. */
const acceptMilliseconds = 10_000;
/** The service counts over a minute. */
const longestWait = 60;

/** One connection, from its first sync to its end. Messages take effect one after another, in their order. */
export function openLink(of: LinkOf, token: string): Link {
  const { replica, vaults } = of;
  const pending = new Map<string, Push>();
  const end: LinkEnd = { code: 0, synced: false };
  // The first question goes as soon as the connection is open: until it is answered nothing retires it.
  let asking: { first: boolean; everything: boolean } | undefined = { first: true, everything: false };
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
        // The key of a vault that is out of sight goes with it.
        if (change.action === "vault_deleted") vaults.forget(change.vault_id);
        if (change.action === "vault_created") short.count(change.vault_id);
      }
      return changes;
    });

  const ask = (first: boolean): void => {
    if (connection.isOver()) return;
    asking = { first, everything: first && replica.serverTime === undefined };
    awaiting = true;
    answerTimer = setTimeout(() => connection.end(deadLink), answerMilliseconds);
    const since = replica.serverTime === undefined ? {} : { last_sync: replica.serverTime };
    connection.send({ type: "sync_request", ...since, limit: of.limit });
  };

  /** What was asked is to be asked again later: nothing of what is here is wrong. */
  const wait = (seconds: number): void => {
    if (asking === undefined) return;
    const { first } = asking;
    clearTimeout(answerTimer);
    awaiting = false;
    if (retiring) connection.end(1000);
    else answerTimer = setTimeout(() => ask(first), Math.min(seconds, longestWait) * 1000);
  };

  // What comes of a connection that is over comes again with the next one: nothing of it is begun any more.
  const takeAnswer = async (answer: SyncAnswer): Promise<void> => {
    if (asking === undefined || connection.isOver()) return;
    // Each page of an answer with everything says `reset`; the first of them may come in the middle of a walk.
    const anew = answer.reset ? !resetting : asking.first && asking.everything;
    if (!listed) {
      // Asked for after the service has begun to tell this connection of changes, so that none falls in between.
      const views = (await vaults.list()).map(({ view }) => view);
      await take(() => setVaults(replica, views));
      for (const { id } of views) short.count(id);
      listed = true;
    }
    const step = await stepOfAnswer(replica, vaults, answer, anew);
    resetting = answer.has_more && (resetting || answer.reset);
    await take(step);
    if (answer.has_more) {
      // What begins anew would begin once more on the next connection: it goes on for as long as the token lets it.
      if (retiring && !resetting) connection.end(1000);
      else ask(false);
      return;
    }
    if (short.areThere()) {
      listed = false;
      if (retiring) connection.end(1000);
      else ask(true);
      return;
    }
    asking = undefined;
    end.synced = true;
    of.onLive();
    if (retiring) connection.end(1000);
    else await drain();
  };

  const drain = async (): Promise<void> => {
    draining = false;
    if (asking !== undefined || pending.size === 0 || connection.isOver()) return;
    const pushes = [...pending.values()];
    pending.clear();
    const { step, sync } = await stepOfPushes(replica, vaults, pushes);
    await take(step);
    if (sync) ask(true);
  };

  const takePush = (push: Push): void => {
    if (push.action === "logout") {
      end.logout = push.reason ?? "revoked";
      connection.end(1000);
    } else if (push.action === "folder_updated") {
      const { folder_id: folderId, change } = push;
      // In the order of everything else, and what the listener throws is not lost in an event.
      const news = { action: push.action, folder_id: folderId ?? "", change: change ?? "metadata" } as const;
      if (folderId !== null) enqueue(() => take(() => [news]));
    } else {
      const key = keyOfPush(push);
      const one = asOnePush(pending.get(key), push);
      pending.delete(key);
      pending.set(key, one);
      if (!draining && asking === undefined) {
        draining = true;
        enqueue(drain);
      }
    }
  };

  /** Whether the person has not accepted one of the vaults yet. */
  const awaitsAcceptance = (): boolean =>
    [...replica.vaults.keys()].some((id) => vaults.known(id)?.keyError?.code === "not_accepted");
  const acceptTimer = setInterval(() => {
    if (listed && awaitsAcceptance()) enqueue(() => vaults.list().then(() => undefined));
  }, acceptMilliseconds);

  const heard = (): void => {
    clearTimeout(quietTimer);
    quietTimer = setTimeout(() => {
      if (asking === undefined) ask(true);
      else heard();
    }, quiet);
  };

  const connection = connect(of.Socket, of.url, token, {
    onOpen() {
      heard();
      ask(true);
    },
    onMessage(data) {
      heard();
      const message = readMessage(data);
      if (message === null) fail(new CofferError("bad_answer", "the sync channel said something that is no message"));
      else if (message?.type === "push") takePush(message);
      else if (message?.type === "error" && message.retryAfterSeconds !== null) wait(message.retryAfterSeconds);
      else if (message?.type === "error") {
        // What was asked is not understood: next time everything is asked for.
        replica.serverTime = undefined;
        fail(new CofferError(isServerCode(message.error) ? message.error : "bad_answer", message.message));
      } else if (message !== undefined) {
        clearTimeout(answerTimer);
        awaiting = false;
        of.limit = Math.min(of.limit * 2, mostPerPage);
        enqueue(() => takeAnswer(message));
      }
    },
  });
  const unhear = hearPings(connection.socket, heard);
  const quiet = of.quietMilliseconds ?? (unhear === undefined ? quietWithoutPings : quietWithPings);

  return {
    ended: connection.closed.then(async (code) => {
      unhear?.();
      clearInterval(acceptTimer);
      await work;
      // What was under way may have asked once more.
      clearTimeout(answerTimer);
      clearTimeout(quietTimer);
      // A page that never came may have been too large for this connection.
      if (awaiting && (code === 1006 || code === 1009 || code === deadLink)) of.limit = Math.ceil(of.limit / 4);
      // An answer that began anew cannot be told from its beginning when it is continued on another connection.
      if (resetting) replica.serverTime = undefined;
      return { ...end, code };
    }),
    retire() {
      retiring = true;
      if (asking === undefined) connection.end(1000);
    },
    tellLate: () => enqueue(() => take(() => [])),
    end: () => connection.end(1000),
  };
}
