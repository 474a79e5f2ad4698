import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { cacheKey, contexts, decodeBase64, decodeText, unboxBound } from "@coffer/crypto";
import { personClient } from "@coffer/sdk";
import t from "tap";
import { type OrganizationServer, startOrganizationServer } from "./organization-server.ts";

await t.test("travel status says whether one travels, whenever that was switched", async (t) => {
  const server = await startOrganizationServer(t);
  for (const [enabled, at, said] of [
    [false, "1970-01-01T00:00:00Z", "off\n"],
    [true, "1970-01-01T00:00:00Z", "on\n"],
    [true, "2026-11-20T10:00:00Z", "on since 2026-11-20T10:00:00Z\n"],
  ] as const) {
    server.travel = { enabled, updated_at: at };
    t.equal((await server.run(["travel", "status"])).stdout, said);
  }
});

/** Someone with two vaults, one of which travel mode hides, and what this machine keeps of them. */
async function withTwoVaults(t: Parameters<typeof startOrganizationServer>[0]) {
  const server = await startOrganizationServer(t);
  const me = personClient(server.session, server.url);
  const [seen, hidden] = [await me.vaults.create("Holiday"), await me.vaults.create("Canary")];
  for (const { id } of [seen, hidden]) await me.records.create(id, { type: "login", fields: { name: "Example" } });
  const view = server.vaults.get(seen.id);
  if (view !== undefined) server.vaults.set(seen.id, { ...view, safe_for_travel: true });
  const stores = join(server.home, "stores");
  mkdirSync(stores);
  const store = join(stores, "vaults.sealed");
  const synced = await server.run(["sync", "--store", store]);
  if (synced.code !== 0) throw new Error(synced.stderr);
  return { server, seen, hidden, stores, store };
}

/** What a store holds, opened. */
async function openedStore({ session }: OrganizationServer, path: string): Promise<string> {
  const key = await cacheKey(decodeBase64(session.user_key));
  return decodeText(await unboxBound(key, readFileSync(path, "utf8").trim(), contexts.replica(session.user.id)));
}

await t.test("what is hidden by travel mode is gone from all that this machine keeps", async (t) => {
  const { server, seen, hidden, stores, store } = await withTwoVaults(t);
  const other = join(stores, "other.sealed");
  t.match(await server.run(["sync", "--store", other]), { code: 0 });
  const [gone, replaced] = [join(stores, "gone.sealed"), join(stores, "replaced.sealed")];
  for (const path of [gone, replaced]) t.match(await server.run(["sync", "--store", path]), { code: 0 });
  rmSync(gone);
  writeFileSync(replaced, "my notes\n");
  t.match(await openedStore(server, store), hidden.id);

  t.match(await server.run(["travel", "on"]), { code: 0, stderr: /travel mode is on for you/ });
  for (const folder of [join(server.home, "coffer"), stores])
    for (const name of readdirSync(folder, { recursive: true, encoding: "utf8" })) {
      if (!statSync(join(folder, name)).isFile()) continue;
      const text = readFileSync(join(folder, name), "utf8");
      t.notMatch(text, hidden.id, name);
      t.notMatch(text, "Canary", name);
    }
  for (const path of [store, other]) {
    const text = await openedStore(server, path);
    t.match(text, seen.id);
    t.notMatch(text, hidden.id);
    t.notMatch(text, "Canary");
  }
  t.notOk(existsSync(gone), "what is gone does not come back");
  t.equal(readFileSync(replaced, "utf8"), "my notes\n");
});

await t.test("a store that cannot be brought up to date is named, with what to do", async (t) => {
  const { server, hidden, stores, store } = await withTwoVaults(t);
  const other = join(stores, "other.sealed");
  t.match(await server.run(["sync", "--store", other]), { code: 0 });
  server.instead.sync = (_asked, socket) => (socket.close(1011), true);
  const stuck = await server.run(["travel", "on"]);
  t.equal(stuck.code, 1);
  t.match(stuck.stderr, /travel mode is on for you/);
  for (const path of [store, other]) t.match(stuck.stderr, `${path} could not be brought up to date: `);
  t.match(stuck.stderr, /`coffer travel on` again tries it again, or remove the file/);
  t.match(await openedStore(server, store), hidden.id);
  delete server.instead.sync;
  t.match(await server.run(["travel", "on"]), { code: 0 });
  t.notMatch(await openedStore(server, store), hidden.id);
});

await t.test("another device forgets what is hidden at its next sync", async (t) => {
  const { server, hidden, store } = await withTwoVaults(t);
  await personClient(server.session, server.url).travel.start();
  t.match(await server.run(["sync", "--store", store]), { code: 0, stdout: `vault_deleted\t\t\t\t${hidden.id}\n` });
  const text = await openedStore(server, store);
  t.notMatch(text, hidden.id);
});
