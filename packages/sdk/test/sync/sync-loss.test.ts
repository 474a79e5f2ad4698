import { until } from "@coffer/testkit";
import t from "tap";
import { memoryStorage } from "../server/memory-storage.ts";
import { newDevice, world } from "../server/synced-device.ts";
import type { VaultServer } from "../server/vault-server.ts";

// Nothing that is held is lost by what others say in the service's place, and what was lost comes again.

/** Answers the next such request as a proxy would that knows no such place. */
function foreignOnce(server: VaultServer, path: RegExp, status: number): { answered: () => boolean } {
  let answered = false;
  server.instead.http = (request, response) => {
    if (answered || request.method !== "GET" || !path.test(request.path)) return false;
    answered = true;
    response.writeHead(status, { "content-type": "text/html" }).end("<html>404 page not found</html>");
    return true;
  };
  return { answered: () => answered };
}

const about = (server: VaultServer, action: string, vaultId: string, id: string | null = null): object => ({
  type: "push",
  action,
  vault_id: vaultId,
  record_id: id,
  updated_at: server.tick(),
});

await t.test("a 404 or 403 that is not the service's takes nothing away", async (t) => {
  for (const status of [404, 403]) {
    const { server, vaultId, ids } = await world(t);
    const { sync, said, heard, away } = await newDevice(t, server);
    await sync.ready;
    heard.length = 0;
    const vault = foreignOnce(server, /\/vaults\/[^/]+$/, status);
    server.push(about(server, "vault_updated", vaultId));
    await until("it has been told so", () => away.length === 1);
    t.ok(vault.answered());
    await until("it is back", () => server.asked.length === 2);
    const record = foreignOnce(server, /\/records\/[^/]+$/, status);
    server.push(about(server, "record_updated", vaultId, ids[0]));
    await until("it has been told so again", () => away.length === 2);
    t.ok(record.answered());
    t.same([said(), (await sync.records()).length], [[], 2]);
  }
});

await t.test(
  "records that were lost under a vault that stayed come again, and only then is it up to date",
  async (t) => {
    const { server, vaultId } = await world(t, 3);
    const { storage } = memoryStorage();
    const first = await newDevice(t, server, { storage });
    await first.sync.ready;
    await first.sync.stop();
    // As after a vault that went out of sight by mistake and came back: nothing that the service
    // sends has its records.
    const { record_count: _count, ...view } = server.vaults.get(vaultId) as NonNullable<
      ReturnType<typeof server.vaults.get>
    >;
    server.vaults.delete(vaultId);
    const second = await newDevice(t, server, { storage });
    await second.sync.ready;
    await second.sync.stop();
    server.vaults.set(vaultId, { ...view, record_count: 0 });
    const asked = server.asked.length;
    const third = await newDevice(t, server, { storage });
    await third.sync.ready;
    t.equal((await third.sync.records(vaultId)).length, 3);
    t.same(
      server.asked.slice(asked).map(({ last_sync }) => last_sync !== undefined),
      [true, true, false],
      "once more from where it was, then from nothing",
    );
  },
);

await t.test("from a service that counts more than it gives everything is fetched once", async (t) => {
  const { server, vaultId } = await world(t);
  server.instead.http = ({ method, path }, response) => {
    if (method !== "GET" || !/vaults\?/.test(path)) return false;
    response.end(JSON.stringify({ data: [{ ...server.vaults.get(vaultId), record_count: 7 }] }));
    return true;
  };
  const { sync } = await newDevice(t, server);
  await sync.ready;
  t.equal(server.asked.length, 3);
  for (const socket of server.sockets) socket.terminate();
  await until("it is back", () => server.asked.length === 4);
  server.push(about(server, "vault_created", vaultId));
  await until("it has asked", () => server.asked.length === 5);
  t.ok(server.asked[4]?.last_sync);
});

await t.test("a vault that went and came back while something else was under way comes with its records", async (t) => {
  for (const before of [["vault_deleted", "vault_created"], ["vault_created"], ["vault_deleted"]]) {
    const { server, vaultId } = await world(t);
    const { sync } = await newDevice(t, server);
    await sync.ready;
    let waiting: (() => void) | undefined;
    server.instead.http = ({ path }, response) => {
      if (!/vaults\/[^/]+$/.test(path) || waiting !== undefined) return false;
      const view = JSON.stringify(server.vaults.get(vaultId));
      waiting = () => response.setHeader("content-type", "application/json").end(view);
      return true;
    };
    server.push(about(server, "vault_updated", vaultId));
    await until("it asks for the vault", () => waiting !== undefined);
    const { length: asked } = server.asked;
    for (const action of [...before, "vault_updated"]) server.push(about(server, action, vaultId));
    const fetched = server.received.length;
    waiting?.();
    await until("it has looked again", () => server.received.length > fetched);
    await until("it asks for the records", () => server.asked.length > asked);
    await sync.stop();
  }
});
