import t from "tap";
import { call } from "../support/call.ts";
import { execute } from "../support/held-vault.ts";
import type { VaultCatchUp } from "../support/listeners.ts";
import { startVaults } from "../support/service.ts";
import { holderOf, catchUp } from "../support/sync.ts";
import { newVault, share, travel } from "../support/vaults.ts";

// Devices apply the newest event of a vault, by its time.

const service = await startVaults(t);
const { clock, listeners, people } = service;
clock.stop();

/** The events of a vault, once there are `count` of them. */
async function eventsOf(vaultId: string, count: number): Promise<VaultCatchUp[]> {
  const about = () => listeners.vaults.filter(({ vault_id }) => vault_id === vaultId);
  await listeners.vaultEvent("the last event", () => about().length >= count);
  return about();
}

await t.test("times of visibility only grow, also if the clock goes back", async (t) => {
  const { owner, vault } = await holderOf(service, 0);
  clock.advance(-5000);
  await travel(service, owner, true);
  clock.advance(-5000);
  await travel(service, owner, false);
  await travel(service, owner, true);
  clock.advance(10_000);
  const events = await eventsOf(vault.id, 4);
  const actions = ["vault_created", "vault_deleted", "vault_created", "vault_deleted"];
  t.same(
    events.map(({ action }) => action),
    actions,
  );
  const times = events.map(({ updated_at }) => updated_at);
  t.same(times, [...new Set(times)].sort(), "in order");
});

await t.test("the catch-up has the times of the events, for each person", async (t) => {
  const { orgId, owner, vault } = await holderOf(service, 0);
  const [early, late] = [await people.add({ orgId, role: "member" }), await people.add({ orgId, role: "member" })];
  const since = (await catchUp(service, null)).server_time;
  await share(service, owner, vault.id, early);
  clock.advance(1000);
  await share(service, owner, vault.id, late);
  const timesOf = (all: readonly VaultCatchUp[]) =>
    [early, late].map(({ userId }) => {
      const mine = all.filter(({ vault_id, user_ids }) => vault_id === vault.id && user_ids?.includes(userId));
      const changes = mine.filter(({ action }) => action !== "vault_updated");
      return changes.map(({ action, updated_at }) => [action, updated_at]);
    });
  const events = timesOf(await eventsOf(vault.id, 5));
  t.match(events, [[["vault_created", /Z$/]], [["vault_created", /Z$/]]]);
  t.same(timesOf((await catchUp(service, since)).vaults), events);

  const path = `/api/vaults/${vault.id}/members`;
  await call(service, owner, "DELETE", `${path}/${early.userId}`);
  clock.advance(1000);
  await call(service, owner, "DELETE", `${path}/${late.userId}`);
  const ends = timesOf((await eventsOf(vault.id, 9)).slice(-4));
  t.match(ends, [[["vault_deleted", /Z$/]], [["vault_deleted", /Z$/]]]);
  t.same(timesOf((await catchUp(service, since)).vaults), ends);
});

await t.test("a changed permission increases the vault's time, in the event and in the catch-up", async (t) => {
  const { orgId, owner, vault } = await holderOf(service, 0);
  const member = await people.add({ orgId, role: "member" });
  await share(service, owner, vault.id, member);
  const path = `/api/vaults/${vault.id}`;
  const renamed = await call(service, owner, "PATCH", path, { body: { name: "Other" } });
  const since = (await catchUp(service, null)).server_time;
  await share(service, owner, vault.id, member, "write");
  const [event] = (await eventsOf(vault.id, 5)).slice(-1);
  t.ok((event?.updated_at ?? "") > renamed.body.updated_at, "after the rename");
  const update = (await catchUp(service, since)).vaults.find(({ action, vault_id }) => {
    return action === "vault_updated" && vault_id === vault.id;
  });
  t.equal(update?.updated_at, event?.updated_at, "the event and the catch-up have one time");
  t.equal((await call(service, owner, "GET", path)).body.updated_at, event?.updated_at);
});

await t.test("travel mode for many vaults enqueues their events in one statement", async (t) => {
  const { owner } = await holderOf(service, 0);
  for (let vaults = 1; vaults < 5; vaults += 1) await newVault(service, owner);
  await execute(
    service,
    `CREATE TABLE vaults.statements (events integer);
     CREATE FUNCTION vaults.note_statement() RETURNS trigger LANGUAGE plpgsql AS $$
       BEGIN
         INSERT INTO vaults.statements SELECT count(*) FROM added WHERE subject = 'coffer.evt.vault.changed';
         RETURN NULL;
       END $$;
     GRANT ALL ON vaults.statements TO PUBLIC;
     CREATE TRIGGER note_statement AFTER INSERT ON vaults.outbox REFERENCING NEW TABLE AS added
       FOR EACH STATEMENT EXECUTE FUNCTION vaults.note_statement()`,
  );
  await travel(service, owner, true);
  t.same(await execute(service, "SELECT events FROM vaults.statements WHERE events > 0"), [{ events: 5 }]);
});
