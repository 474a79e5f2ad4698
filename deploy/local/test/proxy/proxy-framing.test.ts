import { once } from "node:events";
import type { RequestOptions } from "node:http";
import { connect } from "node:net";
import t from "tap";
import { routerSecretHeader } from "@coffer/http";
import { request, echo, pair, secret, type Seen } from "../proxied-service.ts";

const bodies: [string, RequestOptions, string][] = [
  ["a POST without a body", { method: "POST" }, ""],
  ["a DELETE with a body in chunks", { method: "DELETE", headers: { "Transfer-Encoding": "chunked" } }, "gone"],
  ["a GET with a body in chunks", { method: "GET", headers: { "Transfer-Encoding": "chunked" } }, "odd"],
  ["a POST with a length", { method: "POST", headers: { "Content-Length": "4" } }, "four"],
];
for (const [what, options, body] of bodies) {
  await t.test(`${what} has its own frame, and the connection its order`, async (t) => {
    const { port } = await pair(t, echo);
    for (let round = 1; round <= 2; round += 1) {
      const seen = JSON.parse((await request(port, options, body)).body) as Seen;
      t.equal(seen.body, body);
      t.equal(seen.method, options.method);
    }
  });
}

const smuggled = "GET /api/smuggled HTTP/1.1\r\nHost: x\r\nX-Forwarded-For: 9.9.9.9\r\n\r\n";
const framed = `Content-Length: ${smuggled.length}\r\n\r\n${smuggled}`;
const frames: [string, string][] = [
  ["a length that Connection names", `Connection: keep-alive, Content-Length\r\n${framed}`],
  ["a length named in a Connection of its own", `Connection: keep-alive\r\nConnection: content-length\r\n${framed}`],
  [
    "chunks that Connection names",
    "Connection: Transfer-Encoding\r\nTransfer-Encoding: chunked\r\n\r\n" +
      `${smuggled.length.toString(16)}\r\n${smuggled}\r\n0\r\n\r\n`,
  ],
  ["a body after a request to change protocols", `Connection: Upgrade\r\nUpgrade: websocket\r\n${framed}`],
  [
    "a length without the body after a request to change protocols",
    `Connection: Upgrade\r\nUpgrade: websocket\r\nContent-Length: ${smuggled.length}\r\n\r\n`,
  ],
];
for (const method of ["GET", "HEAD", "DELETE", "OPTIONS", "POST"]) {
  for (const [what, rest] of frames) {
    await t.test(`${method} with ${what} is one request at the service, and the next is whole`, async (t) => {
      const seen: (string | undefined)[] = [];
      const { port } = await pair(t, (request, response) => {
        seen.push(`${request.method ?? ""} ${request.url ?? ""} ${String(request.headers[routerSecretHeader])}`);
        // Like a service that answers before it reads a body.
        response.end("seen");
        request.resume();
      });
      const socket = connect(port, "127.0.0.1");
      t.teardown(() => socket.destroy());
      socket.write(`${method} /api/first HTTP/1.1\r\nHost: x\r\n${rest}`);
      await once(socket, "data");
      t.equal((await request(port, { path: "/api/second" })).body, "seen");
      t.same(seen, [`${method} /api/first ${secret}`, `GET /api/second ${secret}`]);
    });
  }
}
