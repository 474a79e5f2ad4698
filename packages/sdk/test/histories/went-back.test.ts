import t from "tap";
import { startCompany } from "../server/history-people.ts";

await t.test("a running client says that the service went back behind a rotation of a vault", async (t) => {
  const { alice, server } = await startCompany(t);
  const me = alice.client();
  const { id } = await me.vaults.create("Team", { type: "shared" });
  await me.records.create(id, { type: "login", fields: { name: "mail" } });
  const [vault, history] = [structuredClone(server.vaults.get(id)), server.histories.get(`vault:${id}`)];
  await me.vaults.rotate(id);
  t.match(await me.vaults.list(), [{ id, problem: null }]);
  // With the pin that the person's devices share in it.
  if (vault !== undefined) server.vaults.set(id, vault);
  if (history !== undefined) server.histories.set(`vault:${id}`, history);
  t.match(await me.vaults.list(), [{ id, problem: "keyring_rolled_back" }]);
  const fields = { name: "new" };
  await t.rejects(me.records.create(id, { type: "login", fields }), { code: "keyring_rolled_back" });
  await t.rejects(me.records.list(id), { code: "keyring_rolled_back" });
});
