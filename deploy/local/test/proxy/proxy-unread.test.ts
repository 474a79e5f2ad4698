import { once } from "node:events";
import type { ServerResponse } from "node:http";
import { connect, type Socket } from "node:net";
import { text } from "node:stream/consumers";
import { until } from "@coffer/testkit";
import t from "tap";
import { pair, request } from "../proxied-service.ts";

const mebibyte = 1024 * 1024;
const large = Buffer.alloc(16 * mebibyte, "x");
/** More than the router may hold for an address: 48 MiB, of which each connection takes at least 128 KiB. */
const sockets = 450;
const ipOf = (address: string) => ({ headers: { "X-Forwarded-For": address } });

async function unread(port: number, address: string, count: number): Promise<Socket> {
  const socket = connect(port, "127.0.0.1");
  socket.on("error", () => undefined);
  socket.pause();
  await once(socket, "connect");
  socket.write(`GET /large HTTP/1.1\r\nHost: x\r\nX-Forwarded-For: ${address}\r\n\r\n`.repeat(count));
  return socket;
}

await t.test("answers that an address does not read hold neither memory nor connections without end", async (t) => {
  const open = new Set<ServerResponse>();
  let asked = 0;
  const { port } = await pair(
    t,
    (incoming, response) => {
      if (incoming.url === "/large") {
        asked += 1;
        open.add(response);
        response.once("close", () => open.delete(response));
        response.end(large);
      } else response.end("small");
    },
    ["127.0.0.0/8"],
  );
  const clients: Socket[] = [];
  t.teardown(() => clients.forEach((client) => client.destroy()));
  for (let n = 0; n < sockets; n += 1) clients.push(await unread(port, "192.0.2.1", 4));
  await until("the address is refused", async () => (await request(port, ipOf("192.0.2.1"))).status === 429);
  t.ok(asked < sockets && open.size < sockets, `${asked} requests reached the service, ${open.size} are open`);
  t.equal((await request(port, ipOf("192.0.2.2"))).body, "small", "another address");
  t.equal((await request(port, { ...ipOf("192.0.2.1"), method: "POST" })).body, "small", "a change");
  for (const client of clients) client.destroy();
  await until("the service is rid of them", () => open.size === 0);
  t.equal((await request(port, ipOf("192.0.2.1"))).body, "small", "nothing is counted any more");
});

await t.test("a slow reader gets all of several pipelined answers", async (t) => {
  const { port } = await pair(t, (incoming, response) => {
    response.end(incoming.url === "/large" ? large : "small");
  });
  const socket = await unread(port, "192.0.2.1", 3);
  t.teardown(() => socket.destroy());
  socket.write("GET /last HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n");
  const all = await text(socket);
  t.equal(all.match(/HTTP\/1\.1 200 OK/g)?.length, 4);
  t.ok(all.length > 3 * large.length && all.endsWith("small"));
});
