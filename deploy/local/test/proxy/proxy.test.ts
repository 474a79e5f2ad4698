import { once } from "node:events";
import { type IncomingMessage, request as httpRequest } from "node:http";
import { text } from "node:stream/consumers";
import t from "tap";
import { routerSecretHeader } from "@coffer/http";
import { request, echo, pair, secret, type Seen } from "../proxied-service.ts";

await t.test("method, path, query, headers, body and answer go through as they are", async (t) => {
  const { port } = await pair(t, echo);
  const headers = { "X-Custom": "ä", Authorization: "Bearer x" };
  const answer = await request(port, { method: "PUT", path: "/api/x?a=%2F&b", headers }, "body");
  const seen = JSON.parse(answer.body) as Seen;
  t.match(seen, { method: "PUT", url: "/api/x?a=%2F&b", body: "body" });
  t.match(seen.headers, { "x-custom": "ä", authorization: "Bearer x", host: `127.0.0.1:${port}` });
  t.equal(answer.status, 207);
  t.same(answer.headers["set-cookie"], ["a=1", "b=2"]);
  t.equal(answer.headers["x-hop"], undefined, "a header that Connection names is for one hop only");
});

await t.test("Connection takes neither the host nor the authorization from a request", async (t) => {
  const { port } = await pair(t, echo);
  const headers = { Connection: "Host, Authorization, X-Hop", Authorization: "Bearer x", "X-Hop": "1" };
  const seen = JSON.parse((await request(port, { headers })).body) as Seen;
  t.match(seen.headers, { host: `127.0.0.1:${port}`, authorization: "Bearer x" });
  t.equal(seen.headers["x-hop"], undefined);
});

await t.test("the proxy sets the source address, and ignores the caller's", async (t) => {
  const { port } = await pair(t, echo);
  const headers = {
    "X-Forwarded-For": "1.2.3.4",
    Forwarded: "for=1.2.3.4",
    "X-Real-IP": "1.2.3.4",
    [routerSecretHeader]: "guess",
  };
  const seen = JSON.parse((await request(port, { headers })).body) as Seen;
  t.match(seen.headers, { "x-forwarded-for": "127.0.0.1", [routerSecretHeader]: secret });
  t.equal(seen.headers["forwarded"], undefined);
  t.equal(seen.headers["x-real-ip"], undefined);
});

await t.test("the header of a trusted proxy in front is used", async (t) => {
  const { port } = await pair(t, echo, ["127.0.0.0/8", "10.0.0.0/8"]);
  const headers = { "X-Forwarded-For": "9.9.9.9, 1.2.3.4, 10.0.0.7" };
  const seen = JSON.parse((await request(port, { headers })).body) as Seen;
  t.equal(seen.headers["x-forwarded-for"], "1.2.3.4");
});

await t.test("a body streams: the service answers its beginning before the end is sent", async (t) => {
  const { port } = await pair(t, (request, response) => request.pipe(response));
  const request = httpRequest({ host: "127.0.0.1", port, method: "POST", agent: false });
  request.write("first");
  const [answer] = (await once(request, "response")) as [IncomingMessage];
  const [chunk] = (await once(answer, "data")) as [Buffer];
  t.equal(chunk.toString(), "first");
  request.end("last");
  t.equal(await text(answer), "last");
});

await t.test("100 Continue comes from the service", async (t) => {
  const { port } = await pair(t, echo);
  const request = httpRequest({
    host: "127.0.0.1",
    port,
    method: "POST",
    agent: false,
    headers: { Expect: "100-continue" },
  });
  request.flushHeaders();
  await once(request, "continue");
  request.end("body");
  const [answer] = (await once(request, "response")) as [IncomingMessage];
  t.equal((JSON.parse(await text(answer)) as Seen).body, "body");
});
