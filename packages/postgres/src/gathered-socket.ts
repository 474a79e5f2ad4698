import { Socket } from "node:net";

/**
 * A socket that sends what is written in one turn of the event loop in one go, once `gather` was called in that turn.
 */
export interface GatheredSocket {
  readonly socket: Socket;
  /** Called before each write: everything of this turn leaves at its end. */
  gather(): void;
  /** Whether something of this turn waits for its end. */
  readonly gathering: boolean;
}

/**
 * Makes a socket for a pipelined connection. A write wakes the server's process and costs more than the statement in
 * it; statements of many requests that go on in the same turn share one.
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
