import { once } from "node:events";
import { connect, type Socket } from "node:net";

/** A connection for requests that no HTTP client would send. */
export interface RawConnection {
  readonly socket: Socket;
  /** Everything that was received. */
  received(): string;
  /** Waits until the received text matches. Throws when the connection ends before. */
  until(pattern: RegExp): Promise<string>;
  /** Waits until the server has closed the connection. Returns everything that was received. */
  ended(): Promise<string>;
}

export async function openRaw(t: { teardown(work: () => unknown): unknown }, port: number): Promise<RawConnection> {
  const socket = connect(port, "127.0.0.1");
  let text = "";
  socket.on("error", () => undefined);
  socket.on("data", (chunk) => (text += chunk.toString("latin1")));
  t.teardown(() => socket.destroy());
  await once(socket, "connect");
  return {
    socket,
    received: () => text,
    until: async (pattern) => {
      while (!pattern.test(text)) {
        if (socket.closed) throw new Error(`the connection ended without ${pattern}: ${text}`);
        await Promise.race([once(socket, "data"), once(socket, "close")]);
      }
      return text;
    },
    ended: async () => {
      if (!socket.closed) await once(socket, "close");
      return text;
    },
  };
}

/** Sends one request as it is, and returns everything until the server closes the connection. */
export async function sendRaw(
  t: { teardown(work: () => unknown): unknown },
  port: number,
  request: string | Buffer,
): Promise<string> {
  const connection = await openRaw(t, port);
  connection.socket.write(request);
  return connection.ended();
}
