import { randomUUID } from "node:crypto";
import t from "tap";
import { routes } from "../src/routes.ts";
import { assemble, type Cast } from "./authorization/cast.ts";
import { expectedStatus, pathOf, rootRoutes, rows } from "./authorization/requests.ts";
import { call } from "./support/call.ts";
import { execute } from "./support/held-vault.ts";
import type { Person } from "./support/people.ts";
import { startVaults } from "./support/service.ts";
import { expected, jwe, newVault, sealed, travel } from "./support/vaults.ts";

const service = await startVaults(t);
const { people, listeners } = service;

/** All rows that requests might change, as one value. */
async function digest(): Promise<string> {
  const tables = [
    "vaults",
    "vault_members",
    "records",
    "tombstones",
    "sights",
    "people",
    "memberships",
    "deleted_vaults",
  ];
  const parts = tables.map(
    (table) => `SELECT md5(coalesce(string_agg(r::text, ',' ORDER BY r::text), '')) AS part FROM vaults.${table} r`,
  );
  const found = await execute<{ part: string }>(service, parts.join(" UNION ALL "));
  return found.map(({ part }) => part).join();
}

await t.test("the table has every route", (t) => {
  const known = [...rows.map(({ method, path }) => `${method} ${path}`), ...rootRoutes];
  t.same(routes.map(({ method, path }) => `${method} ${path}`).sort(), known.sort());
  t.end();
});

await t.test("every route refuses every caller without the permission, and nothing changes", async (t) => {
  const cast = await assemble(service);
  const before = await digest();
  for (const row of rows) {
    for (const { name, person, standing } of cast.callers) {
      const status = expectedStatus(row, standing);
      if (status === row.status) continue;
      const body = row.body?.(cast);
      const answer = await call(service, person, row.method, pathOf(row, cast), { body });
      t.equal(answer.status, status, `${row.method} ${row.path} by ${name}`);
      t.same(Object.keys(answer.body).sort(), ["error", "message", "request_id"]);
    }
  }
  t.equal(await digest(), before);
});

await t.test("a caller may do exactly what the standing allows", async (t) => {
  const shared = await assemble(service);
  for (const row of rows) {
    // A deleted object is absent for the next caller.
    const cast = row.method === "DELETE" ? await assemble(service) : shared;
    for (const { name, person, standing } of cast.callers) {
      const status = expectedStatus(row, standing);
      if (status !== row.status) continue;
      const answer = await call(service, person, row.method, pathOf(row, cast), { body: row.body?.(cast) });
      t.equal(answer.status, status, `${row.method} ${row.path} by ${name}`);
      if (row.method === "DELETE") break;
    }
  }
});

/** As if all managers of the vault had been removed from the organization. */
const abandon = ({ vault }: Cast) =>
  execute(service, "DELETE FROM vaults.vault_members WHERE vault_id = $1 AND permission = 'manage'", [vault.id]);
/** An active owner or admin, unless travel mode hides a vault that they managed. */
const mayClear = (name: string): boolean => /^(?:(?:owner|admin)(?:,| without)|a manager who travels$)/.test(name);

await t.test("an owner or admin may only delete a vault without a manager", async (t) => {
  const cast = await assemble(service);
  await abandon(cast);
  const { orgId, vault } = cast;
  const hidden = await people.add({ orgId, role: "owner" });
  const insert = `INSERT INTO vaults.vault_members (vault_id, user_id, permission, encrypted_key, key_version, added_at)
    VALUES ($1, $2, 'read', 'x', 1, now())`;
  await travel(service, hidden, true);
  await execute(service, insert, [vault.id, hidden.userId]);
  const path = `/api/vaults/${vault.id}`;
  const before = await digest();
  t.equal((await call(service, hidden, "DELETE", path)).status, 404, "travel mode hides it");
  for (const { name, person, standing } of cast.callers) {
    if (mayClear(name)) continue;
    const status = (await call(service, person, "DELETE", path)).status;
    if (standing === "unknown") t.equal(status, 401, name);
    else t.ok(status === 403 || status === 404, `${name}: ${status}`);
  }
  const clearing = cast.callers.filter(({ name }) => mayClear(name));
  t.equal(clearing.length, 9);
  for (const { name, person } of clearing)
    t.equal((await call(service, person, "PATCH", path, { body: { name: "Mine" } })).status, 403, name);
  t.equal(await digest(), before);
  for (const { name, person } of clearing) {
    const own = await assembleAbandoned(cast);
    t.equal((await call(service, person, "DELETE", `/api/vaults/${own}`)).status, 204, name);
    const record = await listeners.record("the record", ({ action, target, outcome }) => {
      return action === "vault.deleted" && target.id === own && outcome === "success";
    });
    t.match(record, { org_id: orgId, actor: { id: person?.userId } });
  }
  const without = await assembleAbandoned(cast);
  const owner = await people.add({ orgId, role: "owner" });
  await travel(service, owner, true);
  t.equal((await call(service, owner, "DELETE", `/api/vaults/${without}`)).status, 204, "of others, while travelling");
});

/** A vault of the cast's organization without any member; its id. */
async function assembleAbandoned({ orgId }: Cast): Promise<string> {
  const maker = await people.add({ orgId, role: "member" });
  const { id } = await newVault(service, maker);
  await people.publish(await people.remove(maker, orgId));
  return id;
}

await t.test("a member may leave the vault and is refused afterwards", async (t) => {
  const cast = await assemble(service);
  // All but its creator, so that the vault has a manager.
  for (const { name, person, standing } of cast.callers.slice(1)) {
    const path = `/api/vaults/${cast.vault.id}/members/${person?.userId ?? randomUUID()}`;
    const row = { method: "DELETE", path, needed: "read", status: 204 } as const;
    t.equal((await call(service, person, row.method, path)).status, expectedStatus(row, standing), name);
    if (expectedStatus(row, standing) !== 204) continue;
    t.equal((await call(service, person, "GET", `/api/vaults/${cast.vault.id}`)).status, 403, `${name}, afterwards`);
  }
});

await t.test("absent objects and objects of others get the same response", async (t) => {
  const cast = await assemble(service);
  const outsiders = cast.callers.filter(({ standing }) => standing === "outsider");
  for (const row of rows) {
    for (const { name, person } of outsiders) {
      const body = row.body?.(cast);
      const [real, none] = await Promise.all(
        [{}, { vaultId: randomUUID(), recordId: randomUUID() }].map((ids) =>
          call(service, person, row.method, pathOf(row, cast, ids), { body }),
        ),
      );
      t.equal(real?.status, none?.status, `${row.method} ${row.path} by ${name}`);
      t.equal(real?.body.message, none?.body.message);
    }
  }
});

await t.test("a record can only be read through its own vault", async (t) => {
  const cast = await assemble(service);
  const before = await digest();
  const [founder] = cast.callers;
  const content = { type: "login", encrypted_data: sealed() };
  for (const method of ["GET", "PUT", "DELETE"]) {
    const path = `/api/vaults/${cast.vault.id}/records/${cast.foreign.record.id}`;
    const body = method === "PUT" ? content : undefined;
    t.match(await call(service, founder?.person, method, path, { body }), { status: 404 }, method);
  }
  t.equal(await digest(), before);
});

await t.test("ids in bodies and headers give no access to objects of others", async (t) => {
  const cast = await assemble(service);
  const founder = founderOf(cast);
  const before = await digest();
  const make = { name: "Vault", type: "shared", encrypted_key: sealed() };
  const own = { ...make, id: cast.foreign.vault.id };
  t.equal((await call(service, founder, "POST", "/api/vaults", { body: own })).status, 409);
  const elsewhere = { "x-coffer-org": cast.foreign.orgId };
  t.equal((await call(service, founder, "POST", "/api/vaults", { body: make, headers: elsewhere })).status, 403);
  const grant = { permission: "manage", encrypted_key: jwe };
  const at = `/api/vaults/${cast.vault.id}/members/${cast.stranger.userId}`;
  t.equal((await call(service, founder, "PUT", at, { body: grant })).status, 404);
  t.equal(await digest(), before);
  for (const [headers, status] of [
    [elsewhere, 404],
    [{ "x-coffer-org": cast.orgId }, 403],
  ] as const) {
    const seen = await call(service, cast.stranger, "GET", `/api/vaults/${cast.vault.id}`, { headers });
    t.equal(seen.status, status);
    const list = await call(service, cast.stranger, "GET", "/api/vaults", { headers });
    t.same(
      list.body.data.map(({ id }) => id),
      [cast.foreign.vault.id],
    );
  }
  const record = { id: cast.foreign.record.id, type: "login", encrypted_data: sealed() };
  const body = { records: [record] };
  expected(await call(service, founder, "POST", `/api/vaults/${cast.vault.id}/import`, { body }), 201);
  const foreign = `/api/vaults/${cast.foreign.vault.id}/records/${record.id}`;
  t.same((await call(service, cast.stranger, "GET", foreign)).body, cast.foreign.record);
});

await t.test("the chosen organization must be the caller's, on every route of a vault", async (t) => {
  const cast = await assemble(service);
  const founder = founderOf(cast);
  const [second, suspended] = [randomUUID(), randomUUID()];
  await people.place(founder, { orgId: second, role: "auditor" });
  await people.place(founder, { orgId: suspended, role: "owner", status: "suspended" });
  const before = await digest();
  for (const row of rows)
    for (const org of [cast.foreign.orgId, suspended, randomUUID(), "acme"]) {
      const headers = { "x-coffer-org": org };
      const answer = await call(service, founder, row.method, pathOf(row, cast), { body: row.body?.(cast), headers });
      t.match(answer, { status: 403, body: { error: "access_denied" } }, `${row.method} ${row.path} in ${org}`);
    }
  t.equal(await digest(), before);
  // The path names the vault: the person's other organizations do not hide it.
  for (const org of [cast.orgId, second])
    t.equal(
      (await call(service, founder, "GET", `/api/vaults/${cast.vault.id}`, { headers: { "x-coffer-org": org } }))
        .status,
      200,
    );
  await listeners.record("the refusal", ({ action, org_id, outcome, actor, request }) => {
    const isDenied = outcome === "denied" && request.status === 403;
    return isDenied && action === "vault.deleted" && org_id === cast.orgId && actor.id === founder.userId;
  });
});

await t.test("the list has exactly the vaults that its caller sees", async (t) => {
  const cast = await assemble(service);
  for (const { name, person, standing } of cast.callers) {
    const { status, body } = await call(service, person, "GET", "/api/vaults");
    t.equal(status, standing === "unknown" ? 401 : 200, name);
    if (standing === "unknown") continue;
    const sees = ["read", "write", "manage"].includes(standing);
    t.equal(
      body.data.some(({ id }) => id === cast.vault.id),
      sees,
      name,
    );
    t.equal(JSON.stringify(body).includes(cast.vault.id), sees, name);
  }
});

await t.test("a refusal is audited in the chain of the organization", async (t) => {
  const cast = await assemble(service);
  const insider = cast.callers.find(({ name }) => name === "member without the vault")?.person as Person; // a name of the cast
  await call(service, insider, "GET", `/api/vaults/${cast.vault.id}/records`);
  await call(service, cast.stranger, "GET", `/api/vaults/${cast.vault.id}/records/${cast.record.id}`);
  const denied = await service.listeners.record("the denial", ({ actor }) => actor.id === insider.userId);
  t.match(denied, { action: "record.listed", outcome: "denied", reason: "access_denied", org_id: cast.orgId });
  const failed = await service.listeners.record("the failure", ({ actor, outcome }) => {
    return actor.id === cast.stranger.userId && outcome === "failure";
  });
  t.match(failed, { action: "record.read", reason: "not_found", org_id: cast.foreign.orgId });
});

function founderOf({ callers }: Cast): Person {
  return callers[0]?.person as Person; // the first of the cast is its founder
}
