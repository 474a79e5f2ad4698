import { randomUUID } from "node:crypto";
import { until } from "@coffer/testkit";
import t from "tap";
import { type Company, newCompany } from "../support/company.ts";
import { type AnswerBody, call } from "../support/call.ts";
import type { Person, Role } from "../support/people.ts";
import { type Replica, startVaults } from "../support/service.ts";
import { jwe, newVault, sealed, share } from "../support/vaults.ts";

// Members that auth-sm does not list, because its database was replaced or restored.

const service = await startVaults(t);
const { people, listeners } = service;
const toNothing = people.dump();

type Target = Pick<Replica, "url">;
const grant = { permission: "read", encrypted_key: jwe };
const content = () => ({ type: "login", encrypted_data: sealed() });

const company = () => newCompany(service);

/** Starts a comparison of the whole copy; the response comes after it. */
const compare = (at: Target, { owner, path }: Company) =>
  call(at, owner, "PUT", `${path}/members/${randomUUID()}`, { body: grant });
/** The vaults that a person sees, with their keys. */
const keysOf = async (at: Target, person: Person): Promise<Pick<AnswerBody, "id" | "encrypted_key">[]> => {
  const { body } = await call(at, person, "GET", "/api/vaults");
  return body.data.map(({ id, encrypted_key }) => ({ id, encrypted_key }));
};
const isDisbelieved = async ({ metrics }: Pick<Replica, "metrics">): Promise<boolean> =>
  /^coffer_memberships_disbelieved\{[^}]*\} 1$/m.test(await metrics());

await t.test("an auth-sm that lists no membership is not trusted, also after a restart", async (t) => {
  const all = await company();
  const before = await keysOf(service, all.member);
  const back = people.dump();
  toNothing();
  t.match(await compare(service, all), { status: 503, body: { error: "unavailable" } });
  t.ok(await isDisbelieved(service));
  const started = await service.replica({ COFFER_LOG_LEVEL: "error" }, { compareMilliseconds: 50 });
  const pages = people.pagesRequested();
  await until("several comparisons are done", () => people.pagesRequested() > pages + 4);
  await until("it says so", () => isDisbelieved(started));
  t.equal(started.lines.filter((line) => line.includes("lists no membership although")).length, 1, "said once");
  for (const at of [service, started]) {
    t.same(await keysOf(at, all.member), before);
    t.equal((await call(at, all.member, "POST", `${all.path}/records`, { body: content() })).status, 201);
  }
  back();
  await until("it is believed again", async () => !(await isDisbelieved(started)));
  t.equal((await compare(service, all)).status, 404, "an unknown user id");
  t.notOk(await isDisbelieved(service));
  t.same(await keysOf(service, all.member), before);
  t.notOk(
    listeners.vaults.some(({ action, vault_id }) => action === "vault_deleted" && vault_id === all.vault.id),
    "no vault_deleted was published",
  );
});

for (const [changes, versions] of [
  [0, "versions that begin again"],
  [100, "versions past those that were lost"],
] as const) {
  await t.test(
    `a database without most members hides vaults, and all are back with the right one: ${versions}`,
    async (t) => {
      const old = await company();
      const toOld = people.dump();
      const lost = await company();
      const own = await newVault(service, lost.member, { type: "personal" });
      const lostPeople = [lost.owner, lost.member];
      const before = await Promise.all(lostPeople.map((person) => keysOf(service, person)));
      const back = people.dump();

      toOld();
      for (let change = 0; change < changes; change += 1)
        await people.place(old.member, { orgId: old.orgId, role: "member" }, { publish: false });
      t.equal((await compare(service, old)).status, 404);
      for (const person of lostPeople) {
        t.same(await keysOf(service, person), []);
        t.equal((await call(service, person, "GET", lost.path)).status, 403);
      }
      t.equal((await call(service, old.member, "GET", old.path)).status, 200);
      const started = await service.replica();
      t.equal((await compare(started, old)).status, 404, "compared again after a restart");
      await people.place(lost.owner, { orgId: lost.orgId, role: "owner" }, { publish: false });
      t.equal((await compare(started, old)).status, 404);
      t.same(await keysOf(service, lost.owner), before[0], "a person who is invited again has all vaults");

      back();
      t.equal((await compare(started, old)).status, 404);
      for (const at of [service, started]) {
        t.same(await Promise.all(lostPeople.map((person) => keysOf(at, person))), before, "each with the same keys");
        const found = await call(at, lost.member, "GET", `${lost.path}/records/${lost.record.id}`);
        t.same(found.body, lost.record);
        t.equal(
          (await call(at, lost.member, "POST", `/api/vaults/${own.id}/records`, { body: content() })).status,
          201,
        );
      }
      t.equal((await call(service, old.member, "GET", old.path)).status, 200);
      await started.stop();
    },
  );
}

await t.test("an unknown role does not block other memberships", async (t) => {
  const all = await company();
  const before = await keysOf(service, all.member);
  // A page has three: any other member of these organizations is in one with a member of that role.
  const unknown = "guest" as Role;
  const [newer, missed] = [await people.add(), await people.add()];
  await people.place(newer, { orgId: all.orgId, role: unknown }, { publish: false });
  await people.place(all.member, { orgId: all.orgId, role: unknown }, { publish: false });
  await people.place(missed, { orgId: all.orgId, role: "member" }, { publish: false });
  t.equal((await compare(service, all)).status, 404, "it was compared");
  const at = `${all.path}/members/${missed.userId}`;
  t.equal((await call(service, all.owner, "PUT", at, { body: grant })).status, 200, "the missed membership is stored");
  t.same(await keysOf(service, all.member), before, "a member in an unknown role is not missing");
  t.equal((await call(service, all.owner, "PUT", `${all.path}/members/${newer.userId}`, { body: grant })).status, 404);
  await people.place(all.member, { orgId: all.orgId, role: "auditor" }, { publish: false });
  t.equal((await compare(service, all)).status, 404);
  t.equal((await call(service, all.member, "GET", all.path)).status, 403, "a role that is known counts again");
});

await t.test("a missing member creates vaults in the organization that auth-sm names", async (t) => {
  const [all, other] = [await company(), await company()];
  const [alone, both] = [await people.add(), await people.add()];
  const restore = people.dump();
  for (const person of [alone, both]) await people.place(person, { orgId: all.orgId, role: "member" });
  const back = people.dump();
  restore();
  await people.place(both, { orgId: other.orgId, role: "member" });
  t.equal((await compare(service, all)).status, 404);
  t.equal((await newVault(service, alone, { type: "personal" })).org_id, null);
  t.equal((await newVault(service, both)).org_id, other.orgId);
  const body = { name: "Vault", type: "shared", encrypted_key: sealed() };
  const headers = { "x-coffer-org": all.orgId };
  t.equal((await call(service, alone, "POST", "/api/vaults", { body, headers })).status, 403);
  back();
  t.equal((await newVault(service, alone)).org_id, all.orgId);
});

await t.test("managers may remove members who joined after the restored time", async (t) => {
  const all = await company();
  const restore = people.dump();
  const late = async () => {
    const person = await people.add();
    const place = await people.place(person, { orgId: all.orgId, role: "member" });
    await share(service, all.owner, all.vault.id, person, "write");
    return { ...person, place };
  };
  const [invited, listedAgain, removed] = [await late(), await late(), await late()];
  const takenOut = await late();
  const before = await keysOf(service, invited);
  restore();
  t.equal((await compare(service, all)).status, 404);
  for (const person of [invited, listedAgain, removed, takenOut]) {
    t.equal((await call(service, person, "GET", all.path)).status, 403);
    const at = `${all.path}/members/${person.userId}`;
    t.match(await call(service, all.owner, "PUT", at, { body: grant }), { status: 409, body: { error: "conflict" } });
  }
  const listed = async () =>
    (await call(service, all.owner, "GET", `${all.path}/members`)).body.data.map(({ user_id }) => user_id);
  const known = [invited, listedAgain, removed, takenOut].map(({ userId }) => userId);
  t.same((await listed()).filter((id) => known.includes(id)).sort(), known.toSorted());

  await people.place(invited, { orgId: all.orgId, role: "member" });
  await people.place(listedAgain, { orgId: all.orgId, role: "member" }, { publish: false });
  t.equal((await compare(service, all)).status, 404);
  for (const person of [invited, listedAgain])
    t.same(await keysOf(service, person), before, "a person who is invited again has all vaults");
  await people.publish({ ...removed.place, status: "removed" });
  t.equal((await call(service, removed, "GET", all.path)).status, 404, "a removed member has left");
  t.equal((await call(service, all.owner, "DELETE", `${all.path}/members/${takenOut.userId}`)).status, 204);
  await people.place(takenOut, { orgId: all.orgId, role: "member" });
  t.equal(
    (await call(service, takenOut, "GET", all.path)).status,
    403,
    "a member who was removed from the vault has lost it",
  );
  t.same((await listed()).filter((id) => known.includes(id)).sort(), [invited.userId, listedAgain.userId].sort());
});
