import { once } from "node:events";
import type { AddressInfo } from "node:net";
import t from "tap";
import { WebSocket, WebSocketServer } from "ws";
import { textFrame } from "../src/pushes/text-frame.ts";

await t.test("a client reads it as the message, for any length, between messages of ws", async (t) => {
  const server = new WebSocketServer({ port: 0, host: "127.0.0.1", perMessageDeflate: false });
  t.teardown(() => server.close());
  await once(server, "listening");
  const messages = [125, 126, 127, 255, 256, 0xffff].map((length) => ({ text: "ü".padEnd(length - 12, "x") }));
  server.on("connection", (socket, { socket: stream }) => {
    for (const message of messages) {
      stream.write(textFrame(message));
      socket.send("between");
    }
    socket.close();
  });
  const got: string[] = [];
  const client = new WebSocket(`ws://127.0.0.1:${(server.address() as AddressInfo).port}`); // of a TCP server
  client.on("message", (data, isBinary) => got.push(isBinary ? "binary" : (data as Buffer).toString("utf8")));
  await once(client, "close");
  t.strictSame(
    got,
    messages.flatMap((message) => [JSON.stringify(message), "between"]),
  );
  t.same(
    messages.map((message) => Buffer.byteLength(JSON.stringify(message))),
    [125, 126, 127, 255, 256, 0xffff],
  );
});

await t.test("a message that needs a longer header is refused", (t) => {
  t.throws(() => textFrame({ text: "x".repeat(0xffff) }), RangeError);
  t.end();
});
