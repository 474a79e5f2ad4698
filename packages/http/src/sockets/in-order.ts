import type { IncomingMessage, RequestListener, ServerResponse } from "node:http";
import type { Duplex } from "node:stream";

/** Of a connection. */
const mostUnanswered = 8;

interface Pending {
  /** A request is with the listener. */
  busy: boolean;
  waiting: [request: IncomingMessage, response: ServerResponse][];
}

/** Passes the requests of each connection on, one at a time. */
export interface InOrder {
  /** Takes the next request of its connection. */
  request(request: IncomingMessage, response: ServerResponse): void;
  /** Whether a request of this connection is not answered yet. */
  isBusy(socket: Duplex): boolean;
}

/**
 * Makes a listener that gives a pipelined request to `listener` when the ones before it are answered.
 * Node parses a chunk of 64 KiB at once, which may hold thousands of requests, and would start them
 * all. It also emits no `close` for a response that waits for another one when the connection ends.
 * A connection with more than 8 unanswered requests is cut: browsers and proxies do not pipeline.
 */
export function createInOrder(listener: RequestListener): InOrder {
  const connections = new WeakMap<Duplex, Pending>();

  function pendingOf(socket: Duplex): Pending {
    let pending = connections.get(socket);
    if (pending === undefined) {
      pending = { busy: false, waiting: [] };
      connections.set(socket, pending);
    }
    return pending;
  }

  function run(pending: Pending, request: IncomingMessage, response: ServerResponse): void {
    pending.busy = true;
    response.once("close", () => {
      pending.busy = false;
      const next = pending.waiting.shift();
      // A response with `Connection: close`, or a cut, leaves the others without an answer.
      if (next !== undefined && request.socket.writable) run(pending, ...next);
    });
    listener(request, response);
  }

  return {
    request: (request, response) => {
      const pending = pendingOf(request.socket);
      if (!pending.busy) run(pending, request, response);
      else if (pending.waiting.length + 1 < mostUnanswered) pending.waiting.push([request, response]);
      else request.socket.destroy();
    },
    isBusy: (socket) => connections.get(socket)?.busy === true,
  };
}
