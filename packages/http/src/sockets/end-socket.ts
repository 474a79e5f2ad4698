import type { Duplex } from "node:stream";

const lingerMilliseconds = 1000;

/**
 * Sends a response on a raw socket, such as after an upgrade request, and closes it. Drops incoming
 * bytes: closing while bytes arrive would reset the connection and could lose the response.
 * Destroys the socket if the peer does not close within a second.
 */
export function endSocket(socket: Duplex, response = ""): void {
  if (socket.writable) socket.end(response);
  socket.resume();
  const cut = setTimeout(() => socket.destroy(), lingerMilliseconds).unref();
  socket.once("close", () => clearTimeout(cut));
}
