import { once } from "node:events";
import type { AddressInfo, Socket } from "node:net";
import { connect, createServer } from "node:net";

/** A network between a client and a server that can be cut: both stay, nothing passes, connections are refused. */
export interface CutNetwork {
  /** The server's URL by way of this network. */
  readonly url: string;
  cut(): void;
  mend(): void;
}

export async function cutNetwork(t: { teardown(work: () => unknown): unknown }, to: string): Promise<CutNetwork> {
  const target = new URL(to);
  const sockets = new Set<Socket>();
  let whole = true;
  const server = createServer((near) => {
    if (!whole) {
      near.destroy();
      return;
    }
    const far = connect(Number(target.port), target.hostname);
    for (const socket of [near, far]) {
      sockets.add(socket);
      socket.on("error", () => undefined);
      socket.on("close", () => {
        sockets.delete(socket);
        near.destroy();
        far.destroy();
      });
    }
    near.pipe(far).pipe(near);
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  const cut = (): void => {
    whole = false;
    for (const socket of sockets) socket.destroy();
  };
  t.teardown(async () => {
    cut();
    server.close();
    await once(server, "close");
  });
  const url = new URL(to);
  url.port = String((server.address() as AddressInfo).port); // it listens on a TCP port
  return {
    url: url.href,
    cut,
    mend: () => {
      whole = true;
    },
  };
}
