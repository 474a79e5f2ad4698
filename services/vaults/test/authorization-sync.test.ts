import { randomUUID } from "node:crypto";
import { vaultViewers } from "@coffer/events";
import { until } from "@coffer/testkit";
import t from "tap";
import { assemble } from "./authorization/cast.ts";
import {
  type Outcome,
  stories,
  type Story,
  type VaultKind,
  vaultKinds,
  type VaultState,
  vaultStates,
} from "./authorization/shown.ts";
import { call } from "./support/call.ts";
import { execute } from "./support/held-vault.ts";
import type { Person } from "./support/people.ts";
import { startVaults } from "./support/service.ts";
import { idsOf, quiet, sync } from "./support/sync.ts";
import { expected, newRecord, newVault, share, travel } from "./support/vaults.ts";

const service = await startVaults(t);
const { people, listeners } = service;

interface Shown {
  id: string;
  owner: Person;
  state: VaultState;
  /** Two records: one from before the moment from which devices continue, one from after it. */
  records: string[];
}

async function vaultsOf(owner: Person, type: "personal" | "shared"): Promise<Shown[]> {
  const made: Shown[] = [];
  for (const state of vaultStates) {
    const { id } = await newVault(service, owner, { type });
    const body = { safe_for_travel: state === "safe for travel" };
    expected(await call(service, owner, "PATCH", `/api/vaults/${id}`, { body }), 200);
    made.push({ id, owner, state, records: [(await newRecord(service, owner, id)).id] });
  }
  return made;
}

const [orgId, otherOrgId] = [randomUUID(), randomUUID()];
const founder = await people.add({ orgId, role: "member" });
const stranger = await people.add({ orgId: otherOrgId, role: "owner" });
const ofOthers = {
  "the shared one": await vaultsOf(founder, "shared"),
  "not shared with them": await vaultsOf(founder, "shared"),
  "a personal vault of another person": await vaultsOf(founder, "personal"),
  "of another organization": await vaultsOf(stranger, "shared"),
};

interface Actor {
  name: string;
  story: Story;
  person: Person;
  vaults: Record<VaultKind, Shown[]>;
  since: string;
}

async function enact(name: string, story: Story): Promise<Actor> {
  const { role, organization, permission } = story;
  const person = await people.add();
  const alone = await vaultsOf(person, "personal");
  if (organization !== "none")
    await people.place(person, { orgId: organization === "this" ? orgId : otherOrgId, role });
  const own = organization === "none" ? [] : await vaultsOf(person, "personal");
  if (permission !== null)
    for (const { id } of ofOthers["the shared one"]) await share(service, founder, id, person, permission);
  return { name, story, person, vaults: { ...ofOthers, own, "own, without an organization": alone }, since: "" };
}

async function becomes({ story, person }: Actor): Promise<void> {
  const { role } = story;
  if (story.becomes === "an auditor") await people.place(person, { orgId, role: "auditor" });
  if (story.becomes === "suspended") await people.place(person, { orgId, role, status: "suspended" });
  if (story.becomes === "removed") await people.remove(person, orgId);
  if (story.becomes === "a traveller") await travel(service, person, true);
  if (story.becomes === "without the vault")
    for (const { id, state } of ofOthers["the shared one"])
      if (state !== "deleted") await call(service, founder, "DELETE", `/api/vaults/${id}/members/${person.userId}`);
}

const actors: Actor[] = [];
for (const [name, story] of Object.entries(stories)) actors.push(await enact(name, story));
const everything = new Set(
  [...Object.values(ofOthers), ...actors.flatMap(({ vaults }) => Object.values(vaults))].flat(),
);
for (const actor of actors) actor.since = await quiet(service, actor.person);
for (const vault of everything) vault.records.push((await newRecord(service, vault.owner, vault.id)).id);
for (const { id, owner, state } of everything)
  if (state === "deleted") await call(service, owner, "DELETE", `/api/vaults/${id}`);
for (const actor of actors) await becomes(actor);

await t.test("every person of the cast has a story", async (t) => {
  const { callers } = await assemble(service);
  t.same(
    callers
      .filter(({ standing }) => standing !== "unknown")
      .map(({ name }) => name)
      .sort(),
    Object.keys(stories).sort(),
  );
});

/** Every vault of an actor, with the expected outcome. */
function* expectations({
  story,
  vaults,
}: Actor): Generator<{ what: string; vault: Shown | undefined; outcome: Outcome }> {
  for (const kind of vaultKinds)
    for (const [at, state] of vaultStates.entries()) {
      const vault = vaults[kind].find((each) => each.state === state);
      yield { what: `${kind}, ${state}`, vault, outcome: story.sees[kind][at] ?? "absent" };
    }
}

await t.test("a device gets the records that its person sees, in a full or incremental sync", async (t) => {
  for (const actor of actors) {
    const [anew, since] = [await sync(service, actor.person), await sync(service, actor.person, actor.since)];
    t.equal(since.reset, false);
    for (const { what, vault, outcome } of expectations(actor)) {
      const name = `${actor.name}: ${what}`;
      t.equal(vault === undefined, outcome === "absent", name);
      if (vault === undefined) continue;
      const of = (items: readonly { id: string; vault_id: string }[]): string[] =>
        idsOf(items.filter(({ vault_id }) => vault_id === vault.id));
      const [, late] = vault.records;
      const records = [...vault.records].sort();
      t.same(of(anew.changes), outcome === "shown" ? records : [], `${name}, anew`);
      t.same(of(anew.deleted), [], `${name}, anew`);
      t.same(of(since.changes), outcome === "shown" ? [late] : [], `${name}, since`);
      t.same(of(since.deleted), outcome === "gone" ? records : [], `${name}, gone since`);
    }
  }
});

await t.test("pushes go to viewers and to those who just lost the vault only", async (t) => {
  const waiting = () => execute(service, "SELECT FROM vaults.outbox LIMIT 1");
  await until("every event is published", async () => (await waiting()).length === 0);
  for (const actor of actors) {
    const { userId } = actor.person;
    for (const { what, vault, outcome } of expectations(actor)) {
      if (vault === undefined) continue;
      const question = { vault_id: vault.id, after: null };
      const { user_ids } = await listeners.sync.request(vaultViewers, question, { timeoutMilliseconds: 20_000 });
      t.equal(user_ids.includes(userId), outcome === "shown", `${actor.name}: ${what}, viewers`);
      const published = () =>
        listeners.vaults
          .filter((event) => event.vault_id === vault.id && event.user_ids?.includes(userId) === true)
          .filter(({ updated_at }) => Date.parse(updated_at) > Date.parse(actor.since))
          .map(({ action }) => action);
      if (outcome === "gone") await until(`${actor.name}: ${what}`, () => published().length > 0);
      t.same(published(), outcome === "gone" ? ["vault_deleted"] : [], `${actor.name}: ${what}, published`);
    }
  }
});
