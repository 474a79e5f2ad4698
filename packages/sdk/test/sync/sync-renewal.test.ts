import type { ServerResponse } from "node:http";
import { until } from "@coffer/testkit";
import t from "tap";
import { json } from "../server/server.ts";
import { newDevice, world } from "../server/synced-device.ts";
import type { VaultServer } from "../server/vault-server.ts";

const refreshes = ({ received }: VaultServer): number =>
  received.filter(({ path }) => path === "/api/auth/refresh").length;

/** Answers refreshes with tokens of so short a life. */
function shortTokens(server: VaultServer, seconds: number): void {
  server.instead.http = ({ path }, response) => {
    if (path !== "/api/auth/refresh") return false;
    const tokens = { access_token: `short-${server.received.length}`, refresh_token: "refresh-2" };
    json(response, 200, { ...tokens, expires_in: seconds, refresh_expires_in: 86_400 });
    return true;
  };
}

await t.test("a token of 30 seconds is used for two thirds of them, not renewed again and again", async (t) => {
  const { server } = await world(t);
  shortTokens(server, 30);
  const due = { ...server.session, access_expires_at: 0 };
  const { sync, away } = await newDevice(t, { ...server, session: due });
  await sync.ready;
  const { length: asked } = server.asked;
  // Longer than the second between two connections.
  await new Promise((resolve) => setTimeout(resolve, 1_500));
  t.same([refreshes(server), server.asked.length, away], [1, asked, []]);
});

await t.test("between two connections there is a second, however short the tokens are", async (t) => {
  const { server } = await world(t);
  shortTokens(server, 0);
  const due = { ...server.session, access_expires_at: 0 };
  // Node warns of a timer for a past time, in the program that uses the SDK.
  const warnings: string[] = [];
  const warned = ({ name }: Error): number => warnings.push(name);
  process.on("warning", warned);
  t.teardown(() => process.off("warning", warned));
  const began = performance.now();
  const { sync } = await newDevice(t, { ...server, session: due });
  await until("it has connected three times", () => server.asked.length >= 3);
  t.ok(performance.now() - began >= 2_000);
  await sync.stop();
  t.same(warnings, []);
});

await t.test(
  "a device that is stopped while its token is renewed says nothing more and waits for nothing",
  async (t) => {
    const { server } = await world(t);
    const { sync, away } = await newDevice(t, server);
    await sync.ready;
    let refreshing: ServerResponse | undefined;
    server.instead.http = ({ path }, response) => path === "/api/auth/refresh" && ((refreshing = response), true);
    for (const socket of server.sockets) socket.close(4001);
    await until("it renews", () => refreshing !== undefined);
    await sync.stop();
    const asked = server.received.length;
    const closed = new Promise((resolve) => refreshing?.on("close", resolve));
    if (refreshing !== undefined) json(refreshing, 503, { error: "unavailable", message: "no" });
    await closed;
    // What comes of the answer comes in the same turn as it, or in one of the next.
    for (let turn = 0; turn < 20; turn += 1) await new Promise((resolve) => setTimeout(resolve, 10));
    t.same([away, server.received.length], [[], asked]);
  },
);

await t.test("a full reload continues though the token is due for renewal", async (t) => {
  const { server, ids } = await world(t, 6);
  const dueAt = Date.now() + 3_000;
  const soon = { ...server.session, access_expires_at: dueAt / 1000 + 30 };
  let page = 0;
  server.instead.sync = (_asked, socket) => {
    const all = server.answer({ type: "sync_request", limit: 1000 }) as { changes: object[] };
    const changes = all.changes.slice(page, page + 1);
    page += 1;
    const answer = JSON.stringify({ ...all, changes, reset: true, has_more: page < ids.length });
    // The second comes when the token is due, and all the others after it.
    setTimeout(() => socket.send(answer), page === 2 ? Math.max(1, dueAt + 150 - Date.now()) : 150);
    return true;
  };
  const { sync } = await newDevice(t, { ...server, session: soon });
  await sync.ready;
  t.equal((await sync.records()).length, ids.length);
  t.equal(server.asked.length, ids.length, "nothing is asked for twice");
  await until("it has connected anew", () => server.offered.length === 2);
});
