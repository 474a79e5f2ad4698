import { once } from "node:events";
import { type AddressInfo, connect, createServer, type Socket } from "node:net";
import type { TestScope } from "@coffer/testkit";

/** The network before a server, which can fail. */
export interface Gate {
  /** The address of the server, by way of the gate. */
  readonly url: string;
  /** Passes everything on: the state at first. */
  open(): void;
  /** Cuts all connections and refuses new ones. */
  close(): void;
  /** Leaves all connections open and passes nothing on. */
  hold(): void;
  /** Cuts all connections, and leads new ones to another server. */
  lead(target: string): void;
}

/** Starts a gate before the server of an address. */
export async function startGate(t: TestScope, target: string): Promise<Gate> {
  let { hostname, port } = new URL(target);
  const sockets = new Set<Socket>();
  let state: "open" | "closed" | "held" = "open";
  const add = (socket: Socket): void => {
    sockets.add(socket);
    socket.setNoDelay(true);
    socket.on("error", () => socket.destroy());
    socket.once("close", () => sockets.delete(socket));
    if (state === "held") socket.pause();
  };
  const join = (from: Socket, to: Socket): void => {
    from.on("data", (chunk) => void to.write(chunk));
    from.once("close", () => to.destroy());
    if (state === "held") from.pause();
  };
  const server = createServer((client) => {
    if (state === "closed") {
      client.destroy();
      return;
    }
    const onward = connect(Number(port), hostname);
    for (const socket of [client, onward]) add(socket);
    join(client, onward);
    join(onward, client);
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  const cut = (): void => sockets.forEach((socket) => socket.destroy());
  t.teardown(async () => {
    cut();
    server.close();
    await once(server, "close");
  });
  const url = new URL(target);
  url.port = String((server.address() as AddressInfo).port); // it listens on a TCP port
  return {
    url: url.href.replace(/\/$/, ""),
    open() {
      state = "open";
      sockets.forEach((socket) => socket.resume());
    },
    close() {
      state = "closed";
      cut();
    },
    lead(other) {
      ({ hostname, port } = new URL(other));
      cut();
    },
    hold() {
      state = "held";
      sockets.forEach((socket) => socket.pause());
    },
  };
}
