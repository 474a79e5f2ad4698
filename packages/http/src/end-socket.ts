import type { Duplex } from "node:stream";

const lingerMilliseconds = 1000;

/**
 * Says the last word on a connection that Node watches no longer, as one that asked to change protocols, and closes it.
 * What still arrives is dropped, since closing while bytes arrive resets the connection and could take the answer away;
 * a peer that does not close its side within a second loses it, so that nobody holds a connection by doing nothing.
 */
export function endSocket(socket: Duplex, lastWord = ""): void {
  if (socket.writable) socket.end(lastWord);
  socket.resume();
  const cut = setTimeout(() => socket.destroy(), lingerMilliseconds).unref();
  socket.once("close", () => clearTimeout(cut));
}
