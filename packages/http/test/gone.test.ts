import { once } from "node:events";
import { connect } from "node:net";
import { until } from "@coffer/testkit";
import t from "tap";
import { anyone, type RequestContext, route, routerSecretHeader, type UpgradeRoute } from "../src/index.ts";
import { sendRaw } from "./raw.ts";
import { startApp } from "./start-app.ts";

const begun: RequestContext[] = [];
const answering = route({
  method: "POST",
  path: "/api/things",
  bucket: "user",
  caller: anyone,
  status: 200,
  run: (_deps: object, { request }) => {
    begun.push(request);
    return Promise.resolve({});
  },
});
const upgrading: UpgradeRoute<object> = {
  path: "/api/sync/ws",
  bucket: "user",
  run: (_deps, { request, socket }) => {
    begun.push(request);
    socket.destroy();
    return Promise.resolve();
  },
};
const app = await startApp(t, [answering], { upgrades: [upgrading], routerSecret: "router-secret" });

/**
 * Sends a request and resets its connection at once, so that its source address is unknown when it
 * is read.
 */
async function sendAndReset(target: string, headers = ""): Promise<void> {
  const socket = connect(app.port, "127.0.0.1");
  socket.on("error", () => undefined);
  await once(socket, "connect");
  socket.write(`${target} HTTP/1.1\r\nHost: x\r\nX-Forwarded-For: 203.0.113.9\r\n${headers}Content-Length: 0\r\n\r\n`);
  socket.resetAndDestroy();
}

const abandoned = async (routeName: string): Promise<boolean> =>
  (await app.metrics()).includes(`http_route="${routeName}",http_response_status_code="499"`);

await t.test("a request whose caller has reset the connection is not run, not limited and not an error", async (t) => {
  await until("one of them was read", async () => {
    await sendAndReset("POST /api/things");
    return abandoned("/api/things");
  });
  await until("one without a route was read", async () => {
    await sendAndReset("POST /api/nothing");
    return abandoned("unmatched");
  });
  for (let i = 0; i < 20; i++) await sendAndReset("GET /api/sync/ws", "Connection: Upgrade\r\nUpgrade: websocket\r\n");
  t.equal((await fetch(`${app.url}/api/things`, { method: "POST" })).status, 200, "others are served");
  t.notOk(
    begun.find(({ ip }) => ip === "unknown"),
    "no operation meets a caller without an address",
  );
  t.notMatch(app.logged(), /"level":"(?:warn|error|fatal)"/);
});

await t.test("nor is one without an address from the router", async (t) => {
  const before = begun.length;
  const head = "POST /api/things HTTP/1.1\r\nHost: x\r\nContent-Length: 0\r\n";
  const sent = `${head}${routerSecretHeader}: router-secret\r\nX-Forwarded-For: unknown\r\n\r\n`;
  t.equal(await sendRaw(t, app.port, sent), "", "its connection is closed without an answer");
  t.equal(begun.length, before);
});
