import { randomUUID } from "node:crypto";
import { lostMembershipsKey } from "@coffer/events";
import { until } from "@coffer/testkit";
import { Redis } from "ioredis";
import t from "tap";
import { call } from "../support/call.ts";
import { execute, whileHolding } from "../support/held-vault.ts";
import type { Person, Role } from "../support/people.ts";
import { startVaults } from "../support/service.ts";
import { jwe, newVault, share } from "../support/vaults.ts";

// Redis names lost memberships while the bus is away. It is not trusted: any client of it may write.

const service = await startVaults(t);
const { people, listeners, nats } = service;
const redis = new Redis(service.redis.url);
t.teardown(() => redis.disconnect());

const orgId = randomUUID();
const owner = await people.add({ orgId, role: "owner" });
const vault = await newVault(service, owner);
const path = `/api/vaults/${vault.id}`;

/** A member of the vault; `version` is that of the membership. */
async function join(): Promise<Person & { version: number }> {
  const person = await people.add();
  const { version } = await people.place(person, { orgId, role: "member" });
  await share(service, owner, vault.id, person, "write");
  return { ...person, version };
}
const write = (entries: unknown) => redis.set(lostMembershipsKey, JSON.stringify(entries));
const entry = ({ userId }: Person, version: number) => ({ org_id: orgId, user_id: userId, version });
const status = async (person: Person): Promise<number> => (await call(service, person, "GET", path)).status;
const refused = (person: Person) => until("the refusal", async () => (await status(person)) === 403);
const seen = (person: Person) => until("the vault is seen", async () => (await status(person)) === 200);
const keyOf = async (person: Person) =>
  (await call(service, person, "GET", "/api/vaults")).body.data.map(({ encrypted_key }) => encrypted_key);
const versionOf = async ({ userId }: Person) =>
  (
    await execute<{ version: string }>(service, "SELECT version FROM vaults.memberships WHERE user_id = $1", [userId])
  ).map(({ version }) => Number(version));
/** The person's status, once the event of auth-sm has arrived. */
const backOnTheBus = (person: Person) =>
  until("both are on the bus", () =>
    people.place(person, { orgId, role: "owner" }).then(
      () => true,
      () => false,
    ),
  );

await t.test(
  "a suspended member is refused while the bus is away, and sees everything again after auth-sm answers",
  async (t) => {
    const [member, another] = [await join(), await join()];
    await nats.stop();
    const { version } = await people.place(member, { orgId, role: "member", status: "suspended" }, { publish: false });
    await write([entry(member, version)]);
    await refused(member);
    const back = await people.place(member, { orgId, role: "member" }, { publish: false });
    await write([back, entry(another, another.version + 1)]);
    await refused(another);
    t.equal(await status(member), 403, "Redis cannot give access");
    await nats.start();
    await seen(member);
    await seen(another);
    t.same(await keyOf(member), [jwe]);
  },
);

await t.test("a removal takes the vaults once auth-sm publishes it", async (t) => {
  const member = await join();
  await nats.stop();
  const removed = await people.remove(member, orgId, { publish: false });
  await write([entry(member, removed.version)]);
  await refused(member);
  await nats.start();
  await backOnTheBus(owner);
  const memberOf = "SELECT FROM vaults.vault_members WHERE user_id = $1";
  t.equal((await execute(service, memberOf, [member.userId])).length, 1);
  await people.publish(removed);
  t.equal(await status(member), 404);
  t.equal((await execute(service, memberOf, [member.userId])).length, 0);
});

await t.test("a forged entry takes no key, and is corrected once the bus is back", async (t) => {
  const [member, ahead] = [await join(), await join()];
  await nats.stop();
  await write([entry(member, member.version + 100_000)]);
  await refused(member);
  t.same(await versionOf(member), [member.version], "its version is not taken over");
  await nats.start();
  await seen(member);
  t.same(await keyOf(member), [jwe]);
  await backOnTheBus(owner);
  await people.place(ahead, { orgId, role: "member", status: "suspended" });
  t.equal(await status(ahead), 403, "and auth-sm's versions count as before");
});

await t.test("a forged entry is corrected once auth-sm answers, without an outage of the bus", async () => {
  const member = await join();
  people.silence(true);
  await write([entry(member, member.version + 1)]);
  await refused(member);
  people.silence(false);
  await seen(member);
});

await t.test("a member with an unknown role is refused, without effect on others in the list", async (t) => {
  const [forged, newer] = [await join(), await join()];
  const { version } = await people.place(newer, { orgId, role: "guest" as Role }, { publish: false });
  const requests = people.namedRequested();
  await write([entry(forged, forged.version + 1), entry(newer, version)]);
  await refused(newer);
  t.ok(people.namedRequested() > requests);
  t.equal(await status(forged), 200, "auth-sm's word counts for who was named besides");
  await people.place(newer, { orgId, role: "member" });
  await seen(newer);
});

await t.test("while auth-sm answers, its memberships are applied", async (t) => {
  const [forged, suspended, removed, returned] = [await join(), await join(), await join(), await join()];
  const { version } = await people.place(suspended, { orgId, role: "member", status: "suspended" }, { publish: false });
  const removal = await people.remove(removed, orgId, { publish: false });
  const left = await people.remove(returned, orgId, { publish: false });
  const back = await people.place(returned, { orgId, role: "member" }, { publish: false });
  const requests = people.namedRequested();
  const named = [entry(suspended, version), entry(removed, removal.version), entry(returned, left.version)];
  await write([entry(forged, forged.version + 1), ...named]);
  await refused(suspended);
  await refused(removed);
  t.ok(people.namedRequested() > requests);
  await until("its version is stored", async () => (await versionOf(suspended))[0] === version);
  await until("the return is stored", async () => (await versionOf(returned))[0] === back.version);
  t.equal(await status(returned), 403, "a member who was removed in between has left");
  t.equal(await status(forged), 200);
  t.notOk(
    listeners.vaults.some(({ action, user_ids }) => action === "vault_deleted" && user_ids?.[0] === forged.userId),
    "a member who was named wrongly received no vault_deleted",
  );
  t.equal(await people.publish(removal), 1);
  t.equal(await status(removed), 404);
});

await t.test(
  "a malformed entry, or one with an impossible version, has no effect and does not block others",
  async (t) => {
    const [member, last] = [await join(), await join()];
    await people.place(owner, { orgId, role: "owner" });
    const suspended = await join();
    const { version } = await people.place(suspended, { orgId, role: "member", status: "suspended" });
    people.silence(true);
    await write([
      null,
      entry(member, -1),
      entry(member, 0.5),
      entry(member, 2 ** 52),
      { ...entry(member, 0), version: `${member.version + 1}` },
      { ...entry(member, member.version + 1), org_id: "x" },
      entry(member, member.version),
      { ...entry(suspended, version + 1), role: "owner", status: "active" },
      entry({ ...member, userId: randomUUID() }, 1),
      entry(last, last.version + 1),
    ]);
    await refused(last);
    t.equal(await status(member), 200);
    t.equal(await status(suspended), 403, "no access is given");
    people.silence(false);
    await seen(last);
  },
);

for (const silent of [true, false]) {
  await t.test(
    `a membership that cannot be stored does not block others, auth-sm ${silent ? "silent" : "answering"}`,
    async (t) => {
      const [broken, other] = [await join(), await join()];
      await execute(
        service,
        `CREATE OR REPLACE FUNCTION vaults.refuse_member() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN
         RAISE check_violation;
       END $$;
       CREATE TRIGGER refuse_member BEFORE UPDATE ON vaults.memberships FOR EACH ROW
         WHEN (NEW.user_id = '${broken.userId}' AND NEW.status = 'suspended') EXECUTE FUNCTION vaults.refuse_member()`,
      );
      const entries = [];
      for (const person of [broken, other]) {
        const { version } = await people.place(
          person,
          { orgId, role: "member", status: "suspended" },
          { publish: false },
        );
        entries.push(entry(person, version));
      }
      people.silence(silent);
      await write(entries);
      await refused(other);
      t.equal(await status(broken), 200);
      await execute(service, "DROP TRIGGER refuse_member ON vaults.memberships");
      await refused(broken);
      people.silence(false);
    },
  );
}

for (const silent of [true, false]) {
  await t.test(`a locked vault does not block other members, auth-sm ${silent ? "silent" : "answering"}`, async (t) => {
    const [busy, other] = [await join(), await join()];
    const own = await newVault(service, busy, { type: "personal" });
    const held = { text: "SELECT FROM vaults WHERE id = $1 FOR UPDATE", values: [own.id], waiting: 0 };
    await whileHolding(service, held, [], async () => {
      // Only then: a comparison in progress would prevent both.
      const entries: unknown[] = [];
      for (const person of [busy, other]) {
        const { version } = await people.place(
          person,
          { orgId, role: "member", status: "suspended" },
          { publish: false },
        );
        entries.push(entry(person, version));
      }
      people.silence(silent);
      await write(entries);
      await refused(other);
      t.equal(await status(busy), 200);
    });
    await refused(busy);
    people.silence(false);
  });
}
