import { until } from "@coffer/testkit";
import t from "tap";
import { type NewRecord, personClient } from "../../src/index.ts";
import { json } from "../server/server.ts";
import { startVaultServer } from "../server/vault-server.ts";

await t.test("an import goes in pieces of 1,000; one that is wrong or too large fails alone", async (t) => {
  const { url, session, received, records } = await startVaultServer(t);
  const me = personClient(session, url);
  const { id: vaultId } = await me.vaults.create("Private");
  const many: NewRecord[] = Array.from({ length: 2001 }, (_, index) => ({
    type: "login",
    fields: { name: `n${index}` },
  }));
  many[5] = { type: "Login", fields: { name: "wrong type" } };
  many[1500] = { type: "login", fields: { name: "x".repeat(200 * 1024) } };
  many[2000] = { id: "no-uuid", type: "login", fields: { name: "n" } };
  const progress: object[] = [];
  const result = await me.records.import(vaultId, many, { onProgress: (each) => progress.push(each) });
  t.match(result, { imported: 1998, failed: 3 });
  t.same(
    result.errors.map(({ index }) => index),
    [5, 1500, 2000],
  );
  t.match(result.errors[1], { issue: /256 KiB/ });
  const sent = received.filter(({ path }) => path.endsWith("/import"));
  t.same(
    sent.map(({ body }) => (JSON.parse(body) as { records: unknown[] }).records.length),
    [1000, 999],
  );
  t.same(progress, [
    { done: 1000, failed: 1, total: 2001 },
    { done: 2001, failed: 3, total: 2001 },
  ]);
  const last = result.records.at(-1);
  t.same([last?.index, records.has(last?.id ?? "")], [1999, true]);
  t.same((await me.records.get(vaultId, last?.id ?? "")).fields, { name: "n1999" });
  t.match(await me.records.import(vaultId, []), { imported: 0, failed: 0, records: [], errors: [] });
});

await t.test("an import keeps each request under what the service takes", async (t) => {
  const { url, session, received } = await startVaultServer(t);
  const me = personClient(session, url);
  const { id: vaultId } = await me.vaults.create("Private");
  const large = Array.from({ length: 150 }, () => ({ type: "login", fields: { name: "x".repeat(190 * 1024) } }));
  t.match(await me.records.import(vaultId, large), { imported: 150, failed: 0 });
  const sizes = received.filter(({ path }) => path.endsWith("/import")).map(({ body }) => body.length);
  t.equal(sizes.length, 2);
  for (const size of sizes) t.ok(size < 32 * 1024 * 1024);
});

await t.test(
  "an import waits no longer for a service that is away than its caller does, and can be stopped",
  async (t) => {
    const server = await startVaultServer(t);
    const { id: vaultId } = await personClient(server.session, server.url).vaults.create("Private");
    let asked = 0;
    let after = "3600";
    server.instead.http = ({ path }, response) => {
      if (!path.endsWith("/import")) return false;
      asked += 1;
      json(response, 503, { error: "unavailable", message: "no" }, { "retry-after": after });
      return true;
    };
    const login = { type: "login", fields: { name: "n" } };
    const away = { code: "unavailable", retryAfterSeconds: 3600 };
    await t.rejects(personClient(server.session, server.url).records.import(vaultId, [login]), away);
    t.equal(asked, 1);
    after = "2";
    const hasty = personClient(server.session, server.url, { maxWaitSeconds: 1 });
    await t.rejects(hasty.records.import(vaultId, [login]), { code: "unavailable" });
    t.equal(asked, 2);
    after = "60";
    const stop = new AbortController();
    const stopped = personClient(server.session, server.url, { signal: stop.signal });
    const importing = stopped.records.import(vaultId, [login]);
    await until("it is asked", () => asked === 3);
    stop.abort();
    await t.rejects(importing, { code: "network", message: /aborted/ });
    after = "0";
    const back = personClient(server.session, server.url).records.import(vaultId, [login]);
    await until("it is tried again", () => asked > 4);
    delete server.instead.http;
    t.match(await back, { imported: 1, failed: 0 });
  },
);

await t.test("an import of which the answer says nothing was not made", async (t) => {
  const server = await startVaultServer(t);
  const me = personClient(server.session, server.url);
  const { id: vaultId } = await me.vaults.create("Private");
  const login = { type: "login", fields: { name: "n" } };
  const none = { imported: 0, failed: 2, records: [] };
  for (const page of [
    { status: "maintenance" },
    { imported: 1, failed: 0, records: [], errors: [] },
    none,
    { ...none, errors: [{ index: 0, issue: "type" }] },
    { ...none, errors: [1, 2].map((index) => ({ index, issue: "type" })) },
  ]) {
    server.instead.http = ({ path }, response) => path.endsWith("/import") && (json(response, 200, page), true);
    await t.rejects(me.records.import(vaultId, [login, login]), { code: "bad_answer" }, JSON.stringify(page));
  }
  server.instead.http = ({ path }, response) => path.endsWith("/import") && (response.writeHead(204).end(), true);
  await t.rejects(me.records.import(vaultId, [login]), { code: "bad_answer" });
});
