import { sign } from "@coffer/history";
import t from "tap";
import { emptyTrust, memoryTrust } from "../../src/trust/trust-storage.ts";
import { notation, rawEntry } from "../server/history-lies.ts";
import { startCompany } from "../server/history-people.ts";

await t.test(
  "a name of two accepted folders is ambiguous, and one's own folder is the one that is meant",
  async (t) => {
    const { alice, join } = await startCompany(t);
    const bob = await join("bob@example.com");
    const { id: own } = await alice.client().folders.create("production");
    const { id: his } = await bob.client().folders.create("staging");
    await bob.client().folders.share(his, { userId: alice.session.user.id, permission: "read" });
    await bob.client().folders.rename(his, "production");
    t.equal((await alice.client().folders.find("production")).id, own, "the other one was not accepted");
    await alice.client().folders.accept(his);
    await t.rejects(alice.client().folders.find("production"), { code: "name_ambiguous" });
    t.equal((await alice.client().folders.find(his)).id, his);
  },
);

await t.test("a device that trusts again does not lose that to another device's keyring", async (t) => {
  const { alice, server } = await startCompany(t);
  const { id } = await alice.client().folders.create("production");
  await alice.client().secrets.set(notation, "s3cret");
  const res = `folder:${id}` as const;
  const restored = server.histories.get(res);
  if (restored === undefined) throw new Error("no history");
  await alice.client().folders.rename(id, "other");
  const second = memoryTrust();
  await alice.client({ trust: second }).folders.create("staging");

  // The service is restored from a backup; the other device was the last that wrote the keyring.
  server.histories.set(res, restored);
  for (const trust of [alice.trust, second]) {
    const device = alice.client({ trust });
    await t.rejects(device.folders.rename(id, "again"), { code: "history_rolled_back" });
    await device.folders.trust(id, () => Promise.resolve(true));
    t.equal(await alice.client({ trust }).secrets.read(notation), "s3cret");
  }
  t.equal(await alice.client().secrets.read(notation), "s3cret");
});

await t.test("a folder that another device has put into the keyring is not adopted", async (t) => {
  const { alice, server } = await startCompany(t);
  await alice.client().folders.list();
  const { id } = await alice.client({ trust: memoryTrust() }).folders.create("production");
  server.lie = ({ method, path }, { body }) => {
    if (method === "GET" && path.endsWith(`${id}/history`)) return { data: [], history_seq: null };
    if (method !== "GET" || path !== "/api/org/folders") return body;
    return { data: (body as { data: object[] }).data.map((view) => ({ ...view, history_seq: null })) };
  };
  const yes = (): Promise<boolean> => Promise.resolve(true);
  const adopt = (): Promise<unknown> => alice.client().folders.adopt(id, yes, yes);
  const keyring = server.keyrings.get(alice.session.user.id);
  server.keyrings.delete(alice.session.user.id);
  await t.rejects(adopt(), { code: "keyring_missing" }, "this device has seen one");
  if (keyring !== undefined) server.keyrings.set(alice.session.user.id, keyring);
  await t.rejects(adopt(), { code: "conflict", message: /one of your devices/ });
  const posted = server.received.filter(({ method, path }) => method === "POST" && path.endsWith("/history"));
  t.same(posted, [], "nothing was signed");
});

await t.test("a device without pins trusts nothing when the keyring is not there, or is older", async (t) => {
  const { alice, server } = await startCompany(t);
  const user = alice.session.user.id;
  const keyring = server.keyrings.get(user);
  const { id } = await alice.client().folders.create("production");
  await alice.client().secrets.set(notation, "s3cret");
  server.keyrings.delete(user);
  await t.rejects(alice.client({ trust: memoryTrust() }).secrets.read(notation), { code: "keyring_missing" });
  const trust = memoryTrust();
  const shown: string[] = [];
  await alice.client({ trust }).keyring.trust((all) => Promise.resolve(shown.push(...all.map(({ name }) => name)) > 0));
  t.same(shown, ["Example", "production"]);
  t.equal(await alice.client({ trust }).secrets.read(notation), "s3cret");
  const troubles: string[] = [];
  if (keyring !== undefined) server.keyrings.set(user, keyring);
  await alice.client({ onKeyringTrouble: ({ code }) => void troubles.push(code) }).folders.rename(id, "other");
  t.same(troubles, ["keyring_rolled_back"]);
});

await t.test("what `keyring trust` shows is not trusted before the answer", async (t) => {
  const { alice, server, organizationId } = await startCompany(t);
  const { id } = await alice.client().folders.create("production");
  const trust = memoryTrust();
  const device = alice.client({ trust });
  // The service shows another history of the folder to a device that has seen none.
  const [who, res] = [`user:${alice.session.user.id}`, `folder:${id}`] as const;
  const set = [{ who, key: alice.session.public_key, perm: "manage" as const }];
  const change = { org: organizationId, name: "production", set, ver: 1, check: "0".repeat(64) };
  const { text, state } = await sign(null, res, who, alice.privateKey, change);
  server.histories.set(res, { entries: [text], state });

  const seen: unknown[] = [];
  const ask = async (shown: readonly { res: string }[]): Promise<boolean> => {
    seen.push(...shown.map((one) => one.res));
    // Another process goes on from it, and so does this one after a crash.
    t.same(await trust.load(), emptyTrust());
    return false;
  };
  await t.rejects(device.keyring.trust(ask), { code: "access_denied" });
  t.same(seen, [`org:${organizationId}`, res]);
  t.same(await trust.load(), emptyTrust());
  await device.keyring.trust(() => Promise.resolve(true));
  t.equal((await trust.load()).resources[res]?.pin.hash, state.head.hash);
});

await t.test("one false answer about who has a key does not keep a holder from it", async (t) => {
  const { alice, join, server } = await startCompany(t);
  const { id } = await alice.client().folders.create("production");
  await alice.client().secrets.set(notation, "s3cret");
  const bob = await join("bob@example.com");
  await alice.client().folders.share(id, { userId: bob.session.user.id, permission: "read" });
  await bob.client().folders.accept(id);
  const grant = server.folders.get(id)?.grants.find((one) => one.id === bob.session.user.id);
  Object.assign(grant ?? {}, { encrypted_key: null, encrypted_key_alg: null });
  server.lie = ({ path }, { body }) =>
    path.endsWith("/members")
      ? { data: (body as { data: object[] }).data.map((one) => ({ ...one, has_key: true })) }
      : body;
  await alice.client().folders.list();
  server.lie = (_, { body }) => body;
  await t.rejects(bob.client().secrets.read(notation), { code: "key_pending" });
  // A day later.
  await alice.trust.change((record) => {
    const trusted = record.resources[`folder:${id}`];
    if (trusted?.sealed_at !== undefined) trusted.sealed_at -= 25 * 60 * 60 * 1000;
    return record;
  });
  await alice.client().folders.list();
  t.equal(await bob.client().secrets.read(notation), "s3cret");
});

await t.test("`keyring trust` forgets nothing that the service does not show", async (t) => {
  const { alice, join, server } = await startCompany(t);
  const mallory = await join("mallory@example.com");
  const { id } = await alice.client().folders.create("production");
  await alice.client().secrets.set(notation, "s3cret");
  await alice.client().folders.share(id, { userId: mallory.session.user.id, permission: "read" });
  const before = structuredClone([server.folders.get(id), server.histories.get(`folder:${id}`)] as const);
  await alice.client().folders.unshare(id, mallory.session.user.id);
  await alice.client().folders.rotate(id);
  server.folders.delete(id);
  await alice.client().keyring.trust(() => Promise.resolve(true));
  // The folder as it was before the removal.
  if (before[0] !== undefined) server.folders.set(id, before[0]);
  if (before[1] !== undefined) server.histories.set(`folder:${id}`, before[1]);
  await t.rejects(alice.client().secrets.set(notation, "new"), { code: "history_rolled_back" });
  const other = alice.client({ trust: memoryTrust() });
  await t.rejects(other.secrets.set(notation, "new"), { code: "history_rolled_back" }, "nor does the keyring");
});

await t.test("a folder that cannot be verified does not keep the others from being trusted", async (t) => {
  const { alice, join, server } = await startCompany(t);
  await alice.client().folders.create("production");
  await alice.client().secrets.set(notation, "s3cret");
  const { id } = await alice.client().folders.create("broken");
  const bob = await join("bob@example.com");
  const held = server.histories.get(`folder:${id}`);
  if (held === undefined) throw new Error("no history");
  const claims = { res: `folder:${id}`, seq: 1, prev: held.state.head.hash, by: bob.session.user.id, name: "mine" };
  held.entries.push(await rawEntry({ ...claims, by: `user:${claims.by}` }, bob.privateKey));
  held.state = { ...held.state, head: { ...held.state.head, seq: 1 } };
  server.keyrings.delete(alice.session.user.id);
  const [trust, shown] = [memoryTrust(), [] as string[]];
  await alice.client({ trust }).keyring.trust((all) => Promise.resolve(shown.push(...all.map(({ name }) => name)) > 0));
  t.same(shown, ["Example", "production"]);
  t.equal(await alice.client({ trust }).secrets.read(notation), "s3cret");
  t.match(
    (await alice.client({ trust }).folders.list()).map(({ problem }) => problem),
    [null, "history_invalid"],
  );
});

await t.test("one false acknowledgement of the keyring does not part this device from the others", async (t) => {
  const { alice, server } = await startCompany(t);
  const other = memoryTrust();
  await alice.client({ trust: other }).folders.list();
  let lies = 0;
  const lying: typeof fetch = (input, init) => {
    if (init?.method !== "PUT" || typeof input !== "string" || !input.endsWith("/keyring") || lies > 0)
      return fetch(input, init);
    lies += 1;
    return Promise.resolve(Response.json({ version: 1 }));
  };
  const troubles: string[] = [];
  const onKeyringTrouble = ({ code }: { code: string }): void => void troubles.push(code);
  await alice.client({ fetch: lying, onKeyringTrouble }).folders.create("production");
  t.equal(lies, 1);
  const { keyring } = await alice.trust.load();
  t.equal(server.keyrings.get(alice.session.user.id)?.version, keyring);
  t.match(await alice.client({ trust: other }).folders.list(), [{ name: "production", problem: null }]);
  t.same(troubles, []);
});

await t.test("an offer is accepted under the name that was shown", async (t) => {
  const { alice, join } = await startCompany(t);
  const bob = await join("bob@example.com");
  const share = async (name: string): Promise<string> => {
    const { id } = await alice.client().folders.create(name);
    await alice.client().folders.share(id, { userId: bob.session.user.id, permission: "read" });
    return id;
  };
  const [production, scratch] = [await share("production"), await share("scratch")];
  await bob.client().folders.accept(production);
  const offer = await bob.client().folders.offer(scratch);
  // The service lets the other folder have the name, and hides the first.
  await alice.client().folders.rename(production, "former");
  await alice.client().folders.rename(scratch, "production");
  const hiding: typeof fetch = async (input, init) => {
    const response = await fetch(input, init);
    if (typeof input !== "string" || !input.endsWith("/api/org/folders")) return response;
    const { data } = (await response.json()) as { data: { id: string }[] };
    return Response.json({ data: data.filter(({ id }) => id !== production) });
  };
  const deceived = bob.client({ fetch: hiding });
  await deceived.folders.list();
  await deceived.folders.accept(scratch, offer);
  await t.rejects(deceived.folders.find("production"), { code: "name_ambiguous" });
  t.equal((await deceived.folders.find(scratch)).id, scratch);
  await deceived.folders.accept(scratch, await deceived.folders.offer(scratch));
  t.equal((await deceived.folders.find("production")).id, scratch, "the new name was shown and accepted");
});

await t.test("an offer names the folder of the same name that the service may hide", async (t) => {
  const { alice, join, server } = await startCompany(t);
  const bob = await join("bob@example.com");
  const own = await alice.client().folders.create("production");
  const { id } = await bob.client().folders.create("Production");
  await bob.client().folders.share(id, { userId: alice.session.user.id, permission: "write" });
  server.lie = ({ path }, { body }) =>
    path === "/api/org/folders"
      ? { data: (body as { data: { id: string }[] }).data.filter((one) => one.id !== own.id) }
      : body;
  t.match(await alice.client().folders.offer(id), { name: "Production", same_name: [own.id] });
});
