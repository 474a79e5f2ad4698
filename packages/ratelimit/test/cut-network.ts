import { once } from "node:events";
import { type AddressInfo, connect, createServer, type Socket } from "node:net";

/** A network between a client and a server that can fail. */
export interface CutNetwork {
  /** The server's URL through this network. */
  readonly url: string;
  /** Ends all connections and refuses new ones until `mend`. */
  cut(): void;
  mend(): void;
  /** Stops data on the present connections, which stay open; new ones work. */
  freeze(): void;
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
    freeze: () => {
      for (const socket of sockets) socket.unpipe().pause();
    },
  };
}
