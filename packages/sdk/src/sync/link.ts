import { isErrorCode } from "@coffer/contract";
import { CofferError } from "../errors.ts";
import { noOffers, planAcceptance } from "./acceptance-plan.ts";
import { connect, deadLink } from "./connection.ts";
import { takeAnswer, takePush } from "./link-messages.ts";
import { enqueue, fail, type LinkEnd, type LinkOf, type LinkState, repeatLater, request, take } from "./link-state.ts";
import { readMessage } from "./messages.ts";
import { shortVaults } from "./short-vaults.ts";
import { watchPings } from "./watch-pings.ts";

export interface Link {
  readonly ended: Promise<LinkEnd>;
  /** Ends it as soon as no page is pending. */
  retire(): void;
  /** Reports changes that could not be opened before and can be now. */
  reportLate(): void;
  end(): void;
}

/**
 * The service pings every 30 s. Where pings are not visible, only a request shows that the service
 * is alive, and costs it some work.
 */
const quietWithPings = 45_000;
const quietWithoutPings = 120_000;
export const mostPerPage = 1000;
/**
 * So many messages may wait. A connection with more is ended, since a service could fill the memory: the next
 * sync has what they say.
 */
const mostWaiting = 10_000;
/** The tick of `planAcceptance`: no push reports what the person accepts on another device. */
const acceptMilliseconds = 10_000;

/**
 * One connection, from its first sync to its end. Messages are processed in order, one at a time.
 */
export function openLink(of: LinkOf, token: string): Link {
  const connection = connect(of.Socket, of.url, token, {
    onOpen() {
      silence.broken();
      request(link, true);
    },
    onMessage(data) {
      silence.broken();
      receive(link, data);
    },
  });
  const link: LinkState = {
    of,
    connection,
    short: shortVaults(of.replica, of.recounted),
    pushes: new Map(),
    end: { code: 0, synced: false },
    // The first request is sent as soon as the connection opens.
    pending: { first: true, everything: false },
    awaiting: false,
    resetting: false,
    listed: false,
    retiring: false,
    draining: false,
    work: Promise.resolve(),
    queued: 0,
    answerTimer: undefined,
  };
  const unwatch = watchPings(connection.socket, () => silence.broken());
  const silence = watchSilence(
    link,
    of.quietMilliseconds ?? (unwatch === undefined ? quietWithoutPings : quietWithPings),
  );
  const acceptance = lookForAcceptance(link);

  return {
    ended: connection.closed.then(async (code) => {
      unwatch?.();
      clearInterval(acceptance);
      await link.work;
      // Running work may have sent another request.
      clearTimeout(link.answerTimer);
      silence.ignore();
      return endOf(link, code);
    }),
    retire() {
      link.retiring = true;
      if (link.pending === undefined) connection.end(1000);
    },
    reportLate: () => enqueue(link, () => take(link, () => [])),
    end: () => connection.end(1000),
  };
}

function receive(link: LinkState, data: unknown): void {
  const { of } = link;
  const message = readMessage(data);
  if (link.queued + link.pushes.size >= mostWaiting) link.connection.end(1000);
  else if (message === null)
    fail(link, new CofferError("bad_answer", "the sync channel said something that is no message"));
  else if (message?.type === "push") takePush(link, message);
  else if (message?.type === "error" && message.retryAfterSeconds !== null)
    repeatLater(link, message.retryAfterSeconds);
  else if (message?.type === "error") {
    // The service did not understand the request. The next one asks for everything.
    of.replica.serverTime = undefined;
    fail(link, new CofferError(isErrorCode(message.error) ? message.error : "bad_answer", message.message));
  } else if (message !== undefined && !link.awaiting)
    fail(link, new CofferError("bad_answer", "the sync channel answered without a request"));
  else if (message !== undefined) {
    clearTimeout(link.answerTimer);
    link.awaiting = false;
    of.limit = Math.min(of.limit * 2, mostPerPage);
    enqueue(link, () => takeAnswer(link, message));
  }
}

/** Requests changes after a silence of the service. */
function watchSilence(link: LinkState, milliseconds: number): { broken(): void; ignore(): void } {
  let timer: ReturnType<typeof setTimeout> | undefined;
  const broken = (): void => {
    clearTimeout(timer);
    timer = setTimeout(() => {
      if (link.pending === undefined) request(link, true);
      else broken();
    }, milliseconds);
  };
  return { broken, ignore: () => clearTimeout(timer) };
}

/** Looks now and then whether a vault that is offered has been accepted elsewhere. */
function lookForAcceptance(link: LinkState): ReturnType<typeof setInterval> {
  const { replica, vaults } = link.of;
  const isOffer = (id: string): boolean => vaults.known(id)?.keyError?.code === "not_accepted";
  let plan = noOffers;
  return setInterval(() => {
    plan = planAcceptance(plan, link.listed ? [...replica.vaults.keys()].filter(isOffer) : []);
    if (plan.due) enqueue(link, () => vaults.list().then(() => undefined));
  }, acceptMilliseconds);
}

function endOf({ of, end, awaiting, resetting }: LinkState, code: number): LinkEnd {
  // A page that never arrived may have been too large for this connection.
  if (awaiting && (code === 1006 || code === 1009 || code === deadLink)) of.limit = Math.ceil(of.limit / 4);
  // On another connection the continuation of a full response could not be distinguished from its
  // start.
  if (resetting) of.replica.serverTime = undefined;
  return { ...end, code };
}
