import { Duplex } from "node:stream";
import type { Upgrade } from "@coffer/http";
import t from "tap";
import { createHandshake } from "../src/opening/handshake.ts";

/** The stream of a connection; the test decides in which pieces data arrives. */
function openStream() {
  const stream = new Duplex({ read: () => undefined, write: (_chunk, _encoding, done) => done() });
  const headers = {
    connection: "Upgrade",
    upgrade: "websocket",
    "sec-websocket-version": "13",
    "sec-websocket-key": "AAAAAAAAAAAAAAAAAAAAAA==",
  };
  const incoming = { method: "GET", headers, socket: stream };
  const upgrade = { incoming, socket: stream, head: Buffer.alloc(0), headers: [] };
  const socket = createHandshake()(upgrade as unknown as Upgrade, undefined); // the fields that a handshake reads
  if (socket === undefined) throw new Error("no socket");
  const outcome = new Promise<string>((resolve) => {
    socket.on("message", (data: Buffer) => resolve(data.toString("utf8")));
    socket.on("error", (error) => resolve("code" in error ? String(error.code) : error.message));
  });
  return { stream, outcome };
}

for (const { pieces, arrives } of [
  { pieces: 256, arrives: true },
  { pieces: 257, arrives: false },
])
  await t.test(
    `a frame of which ${pieces} pieces wait for the rest ${arrives ? "is taken" : "is cut off"}`,
    async (t) => {
      const { stream, outcome } = openStream();
      const text = "x".repeat(pieces);
      // The head of a masked text frame of this length; the mask is zero.
      stream.push(Buffer.from([0x81, 0x80 | 126, pieces >> 8, pieces & 0xff, 0, 0, 0, 0]));
      for (const letter of text) {
        await new Promise(setImmediate);
        stream.push(Buffer.from(letter));
      }
      t.equal(await outcome, arrives ? text : "WS_ERR_TOO_MANY_BUFFERED_PARTS");
    },
  );
