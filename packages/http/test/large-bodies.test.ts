import t from "tap";
import { z } from "zod";
import { route } from "../src/index.ts";
import { openRaw } from "./raw.ts";
import { startApp } from "./start-app.ts";

// A body is in memory until its client has sent the rest.

const mebibyte = 1024 * 1024;
const app = await startApp(t, [
  route({
    ...{ method: "POST", path: "/api/things", bucket: "user", status: 200 },
    caller: () => ({ name: "somebody" }),
    body: z.object({ name: z.string() }),
    bodyLimitBytes: 32 * mebibyte,
    run: () => Promise.resolve({ ran: true }),
  }),
]);
const head = (address: string, length: string): string =>
  `POST /api/things HTTP/1.1\r\nHost: x\r\nX-Forwarded-For: ${address}\r\nContent-Type: application/json\r\n${length}\r\n\r\n`;
const large = `Content-Length: ${mebibyte + 1}`;
/** The beginning of a large body; the rest does not come. */
const begin = async (address: string) => {
  const connection = await openRaw(t, app.port);
  connection.socket.write(`${head(address, large)}{"name":"`);
  return connection;
};
const post = (address: string, name: string) =>
  fetch(`${app.url}/api/things`, {
    method: "POST",
    headers: { "content-type": "application/json", "x-forwarded-for": address },
    body: JSON.stringify({ name }),
  });

await t.test("an address sends eight large bodies at a time, and others are not delayed", async (t) => {
  const unfinished = [];
  for (let each = 0; each < 8; each += 1) unfinished.push(await begin("192.0.2.1"));
  for (const length of [large, "Transfer-Encoding: chunked", "Content-Encoding: gzip\r\nContent-Length: 60000"]) {
    const refused = await openRaw(t, app.port);
    refused.socket.write(head("192.0.2.1", length));
    const text = await refused.until(/request_id/);
    t.match(text, /^HTTP\/1\.1 429 /, length);
    t.match(text, /\r\nRetry-After: 5\r\n/i);
    t.match(text, '"error":"rate_limited"');
    refused.socket.destroy();
  }
  t.equal((await post("192.0.2.1", "small")).status, 200);
  t.equal((await post("192.0.2.2", "x".repeat(2 * mebibyte))).status, 200);
  const [first, second, ...others] = unfinished;
  first?.socket.write(`${"x".repeat(mebibyte + 1 - '{"name":""}'.length)}"}`);
  t.match(await first?.until(/ran/), /^HTTP\/1\.1 200 /);
  t.equal((await post("192.0.2.1", "x".repeat(2 * mebibyte))).status, 200, "one of them is complete");
  for (const connection of [second, ...others]) connection?.socket.destroy();
});

await t.test("a body that its client has given up counts no more", async (t) => {
  for (let round = 0; round < 12; round += 1) {
    const connection = await begin("192.0.2.3");
    await new Promise((resolve) => setTimeout(resolve, 20));
    connection.socket.destroy();
    await new Promise((resolve) => setTimeout(resolve, 20));
  }
  t.equal((await post("192.0.2.3", "x".repeat(2 * mebibyte))).status, 200);
});
