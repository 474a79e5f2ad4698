import { type AddressInfo, createServer, type Socket } from "node:net";
import type { TestScope } from "@coffer/testkit";
import t from "tap";
import type { RawRequest } from "../src/request.ts";
import { createWire, parseAnswer } from "../src/wire.ts";

const request: RawRequest = { method: "GET", target: "/", headers: [["Host", "x"]], body: undefined };

/** A server that answers each request's bytes by `serve`, and counts connections. */
async function startServer(t: TestScope, serve: (socket: Socket, text: string) => void) {
  let connections = 0;
  const sockets = new Set<Socket>();
  const server = createServer((socket) => {
    connections += 1;
    sockets.add(socket);
    socket.on("data", (chunk) => serve(socket, chunk.toString("latin1")));
    socket.on("error", () => socket.destroy());
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  t.teardown(() => {
    for (const socket of sockets) socket.destroy();
    server.close();
  });
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  return { url, connections: () => connections };
}

await t.test("an answer is read whole, and its connection is used again", async (t) => {
  const server = await startServer(t, (socket) => {
    socket.write("HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 200 OK\r\nX: y\r\nContent-Le");
    setImmediate(() => socket.write("ngth: 4\r\n\r\nbo"));
    setTimeout(() => socket.write("dy"), 5);
  });
  const wire = createWire(server.url, 2000);
  for (let time = 0; time < 3; time += 1) t.match(await wire.send(request), { status: 200, body: "body" });
  t.equal(server.connections(), 1);
  await wire.send({ ...request, breaksConnection: true });
  t.equal(server.connections(), 2, "one that may break its connection has its own");
  wire.close();
});

await t.test("a close is null, a timeout and malformed bytes are errors", async (t) => {
  const answers = ["", "HTTP/2 200\r\n\r\n", "HTTP/1.1 200 OK\r\n\r\n"];
  const server = await startServer(t, (socket, text) => {
    const [, at = ""] = /^GET \/(\d+)/.exec(text) ?? [];
    if (at === "") return;
    socket.end(answers[Number(at)] ?? "");
  });
  const wire = createWire(server.url, 200);
  const send = (target: string) => wire.send({ ...request, target });
  t.equal(await send("/0"), null);
  await t.rejects(send("/1"), /no HTTP answer/);
  await t.rejects(createWire(server.url, 200).send({ ...request, target: "/2" }), /unknown length/);
  const silent = createWire(server.url, 200);
  await t.rejects(silent.send({ ...request, target: "/" }), /no answer within 200 ms/);
  silent.close();
  wire.close();
});

await t.test("chunks are put together", (t) => {
  const text = "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n4\r\nab\r\n\r\n2\r\ncd\r\n0\r\n\r\n";
  t.match(parseAnswer(Buffer.from(text), "GET"), { answer: { body: "ab\r\ncd" }, rest: 0 });
  t.equal(parseAnswer(Buffer.from(text.slice(0, -1)), "GET"), null);
  t.match(parseAnswer(Buffer.from(`${text}more`), "GET"), { rest: 4 });
  t.end();
});
