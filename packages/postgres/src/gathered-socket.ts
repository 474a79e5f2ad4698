import { Socket } from "node:net";

/**
 * A socket that sends all writes of an event loop turn at once, if `gather` was called in that
 * turn.
 */
export interface GatheredSocket {
  readonly socket: Socket;
  /** Call before each write: the socket flushes at the end of the turn. */
  gather(): void;
  /** Whether a flush is pending. */
  readonly gathering: boolean;
}

/**
 * Makes a socket for a pipelined connection. A socket write wakes the server process and costs more
 * than a statement, so the statements of one turn share one.
 */
export function gatheredSocket(): GatheredSocket {
  const socket = new Socket();
  let gathering = false;
  return {
    socket,
    gather() {
      if (gathering) return;
      gathering = true;
      socket.cork();
      setImmediate(() => {
        gathering = false;
        socket.uncork();
      });
    },
    get gathering() {
      return gathering;
    },
  };
}
