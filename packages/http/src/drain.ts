import type { Server, ServerResponse } from "node:http";
import type { Duplex } from "node:stream";

// For a request that is already on its way on an idle connection.
const graceMilliseconds = 250;

/** Ends a server without cutting an answer. */
export interface Drain {
  /** Notes an answer that is to be written. */
  note(response: ServerResponse): void;
  /** Has nothing more to do with a connection that has changed protocols, but that `close` waits for its end. */
  leave(socket: Duplex): void;
  /**
   * Takes no more connections. Answers from now on close theirs; idle connections are closed after a moment, at most
   * `longestMilliseconds`. Resolves when the last one is closed.
   */
  close(longestMilliseconds: number): Promise<void>;
}

/**
 * Watches a server's connections. Node's own closeIdleConnections takes a connection for idle as soon as its answer has
 * been handed over, and cuts a long one that its caller is still taking.
 */
export function createDrain(server: Server): Drain {
  const sockets = new Set<Duplex>();
  const answers = new Set<ServerResponse>();
  let closing = false;
  let graceIsOver = false;

  server.on("connection", (socket: Duplex) => {
    sockets.add(socket);
    socket.once("close", () => sockets.delete(socket));
  });

  function closeIdle(): void {
    graceIsOver = true;
    const busy = new Set<Duplex>(Array.from(answers, ({ req }) => req.socket));
    for (const socket of sockets) if (!busy.has(socket)) socket.destroy();
  }

  return {
    note: (response) => {
      if (closing) response.shouldKeepAlive = false;
      answers.add(response);
      response.on("close", () => {
        answers.delete(response);
        // One that had been promised before the end that it may stay.
        if (graceIsOver) response.req.socket.destroySoon();
      });
    },
    leave: (socket) => void sockets.delete(socket),
    close: async (longestMilliseconds) => {
      closing = true;
      for (const response of answers) response.shouldKeepAlive = false;
      server.closeIdleConnections = () => undefined;
      const idle = setTimeout(closeIdle, Math.min(graceMilliseconds, longestMilliseconds));
      await new Promise<void>((resolve) => server.close(() => resolve()));
      clearTimeout(idle);
    },
  };
}
