import type { Server, ServerResponse } from "node:http";
import type { Duplex } from "node:stream";

// For a request in flight on an idle connection.
const graceMilliseconds = 250;

/** Shuts a server down without cutting responses. */
export interface Drain {
  /** Tracks a response. */
  note(response: ServerResponse): void;
  /** Stops tracking an upgraded connection; `close` still waits for its end. */
  leave(socket: Duplex): void;
  /**
   * Stops listening. Responses close their connections; idle connections are closed after a grace
   * period, at most `longestMilliseconds`. Resolves when the last connection is closed.
   */
  close(longestMilliseconds: number): Promise<void>;
}

/**
 * Tracks a server's connections. Node's closeIdleConnections cuts long responses: it counts a
 * connection as idle once the response is written, before the client has read it.
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
        // The response began with keep-alive, before the shutdown.
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
