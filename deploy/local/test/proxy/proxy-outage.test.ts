import { once } from "node:events";
import { type IncomingMessage, request as httpRequest } from "node:http";
import { text } from "node:stream/consumers";
import t from "tap";
import { request, echo, pair } from "../proxied-service.ts";

await t.test("an unavailable service is 503 with Retry-After, and recovers by itself", async (t) => {
  const { port, backend, setDown } = await pair(t, echo);
  const expected = { error: "unavailable", request_id: "abc", message: String };
  setDown(true);
  const starting = await request(port, { headers: { "X-Request-Id": "abc" } });
  t.match(starting, { status: 503, headers: { "retry-after": "1", "cache-control": "no-store" } });
  t.match(JSON.parse(starting.body), expected);
  setDown(false);
  t.equal((await request(port)).status, 207);
  backend.closeAllConnections();
  backend.close();
  await once(backend, "close");
  const gone = await request(port, { method: "POST" }, "body");
  t.equal(gone.status, 503);
});

await t.test("an answer that breaks off is broken off, not completed", async (t) => {
  const { port } = await pair(t, (_request, response) => {
    response.writeHead(200, { "Content-Length": "100" });
    response.write("part", () => response.destroy());
  });
  const request = httpRequest({ host: "127.0.0.1", port, agent: false });
  request.end();
  const [answer] = (await once(request, "response")) as [IncomingMessage];
  await t.rejects(text(answer), { code: "ECONNRESET" });
});

await t.test("a caller that goes away takes its request with it", async (t) => {
  const gone = Promise.withResolvers<undefined>();
  const { port } = await pair(t, (request, response) => {
    response.once("close", () => gone.resolve(undefined));
    request.resume();
    response.write("begun");
  });
  const request = httpRequest({ host: "127.0.0.1", port, agent: false });
  request.on("error", () => undefined);
  request.end();
  await once(request, "response");
  request.destroy();
  await t.resolves(gone.promise);
});
