import { until } from "@coffer/testkit";
import t from "tap";
import { memoryKeeper, personClient, type PersonSession, type Sync, type SyncChange } from "../../src/index.ts";
import { memoryStorage } from "../server/memory-storage.ts";
import { json } from "../server/server.ts";
import { world } from "../server/synced-device.ts";
import { newSession, type VaultServer } from "../server/vault-server.ts";

// Another person logs in on the same machine, in the same profile, while a device follows a person's vaults.

/** A device of the server's person whose keeper says what the test says. */
async function sharedDevice(t: Parameters<typeof world>[0]): Promise<{
  server: VaultServer;
  sync: Sync;
  bob: PersonSession;
  /** Whose the session is from now on, one question after another; the last one stays. */
  become(...sessions: PersonSession[]): void;
  /** Pushes a change of a record, which is to be fetched. */
  change(): void;
  heard: SyncChange[];
  away: string[];
  /** What it ended with, or heard before. */
  outcome(): Promise<unknown>;
  text(): string;
}> {
  const { server, vaultId, ids } = await world(t);
  const bob = { ...(await newSession(server.url)), access_token: "bobs" };
  server.instead.http = ({ headers }, response) => {
    if (headers.authorization !== "Bearer bobs") return false;
    json(response, 404, { error: "not_found", message: "not for Bob" });
    return true;
  };
  const keeper = { ...memoryKeeper(server.session) };
  const { storage, text } = memoryStorage();
  const filled = await personClient(keeper, server.url).sync({ storage });
  await filled.ready;
  await filled.stop();
  const heard: SyncChange[] = [];
  const away: string[] = [];
  const sync = await personClient(keeper, server.url).sync({
    storage,
    onChange: (changes) => heard.push(...changes),
    onAway: ({ code }) => away.push(code),
  });
  t.teardown(() => sync.stop());
  await sync.ready;
  let over: unknown;
  sync.ended.catch((error: unknown) => (over = error));
  return {
    server,
    sync,
    bob,
    heard,
    away,
    text,
    outcome: () => until("it has ended, or has heard something", () => over ?? heard[0]),
    become(...sessions) {
      const last = sessions.at(-1) ?? server.session;
      keeper.current = () => Promise.resolve(sessions.shift() ?? last);
    },
    change() {
      const record_id = ids[0] as string;
      server.push({ type: "push", action: "record_updated", record_id, vault_id: vaultId, updated_at: server.tick() });
    },
  };
}

await t.test("nothing is fetched as another person: the sync ends, and stores nothing", async (t) => {
  const { server, bob, heard, text, outcome, become, change } = await sharedDevice(t);
  become(bob);
  change();
  t.match(await outcome(), { code: "invalid_token", message: /another person logged in/ });
  t.same([heard, text()], [[], ""]);
  t.notOk(server.received.some(({ headers }) => headers.authorization === "Bearer bobs"));
});

await t.test("an answer to another person's session removes nothing", async (t) => {
  const { server, bob, heard, outcome, become, change } = await sharedDevice(t);
  become(server.session, bob);
  change();
  t.match(await outcome(), { code: "invalid_token" });
  t.ok(server.received.some(({ headers }) => headers.authorization === "Bearer bobs"));
  t.same(heard, []);
});

await t.test("nor when the person is back already, with another login", async (t) => {
  const { server, sync, bob, heard, away, become, change } = await sharedDevice(t);
  become(server.session, bob, { ...server.session, session_id: "another" });
  const asked = server.asked.length;
  change();
  await until("it is back, or has heard something", () => server.asked.length > asked || heard.length > 0);
  t.same([away, heard, (await sync.records()).length], [["unavailable"], [], 2]);
});

await t.test("no connection is opened as another person", async (t) => {
  const { server, bob, outcome, become } = await sharedDevice(t);
  become(bob);
  for (const socket of server.sockets) socket.terminate();
  t.match(await outcome(), { code: "invalid_token" });
  t.notMatch(server.offered.join(), /bobs/);
});
