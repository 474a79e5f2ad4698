import { once } from "node:events";
import { connect } from "node:net";
import t from "tap";
import { openFront } from "../src/front.ts";
import { allServices } from "../src/services.ts";

await t.test("while connections drain, one that changed its protocol stays until the end", async (t) => {
  const front = await openFront({ host: "127.0.0.1", port: 0, drainSeconds: 60, rows: allServices });
  t.teardown(() => front.close());
  const target = {
    request: () => undefined,
    upgrade: (_request: unknown, socket: NodeJS.ReadWriteStream) => {
      socket.write("HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n\r\n");
      socket.pipe(socket);
    },
  };
  front.use(new Map([["sync", target]]));
  const socket = connect(front.port, "127.0.0.1");
  socket.on("error", () => undefined);
  socket.write("GET /api/sync/ws HTTP/1.1\r\nHost: x\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n\r\n");
  await once(socket, "data");
  await front.drain(60);
  await new Promise((resolve) => setTimeout(resolve, 600)); // longer than idle connections are kept
  socket.write("still here");
  t.equal(String((await once(socket, "data"))[0]), "still here");
  await front.close();
  if (!socket.closed) await once(socket, "close");
});
