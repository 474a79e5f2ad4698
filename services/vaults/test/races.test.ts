import { randomUUID } from "node:crypto";
import t from "tap";
import { type Answer, type AnswerBody, call } from "./support/call.ts";
import { execute, stopWritersBeforeTheirLock, whileHolding } from "./support/held-vault.ts";
import type { Person } from "./support/people.ts";
import { startVaults } from "./support/service.ts";
import { jwe, newRecord, newVault, sealed, share, travel } from "./support/vaults.ts";

const service = await startVaults(t);
const { people } = service;

async function company() {
  const orgId = randomUUID();
  const [owner, member] = [await people.add({ orgId, role: "owner" }), await people.add({ orgId, role: "member" })];
  const vault = await newVault(service, owner);
  return { orgId, owner, member, vault, path: `/api/vaults/${vault.id}` };
}
const grant = { permission: "write", encrypted_key: jwe };
const content = () => ({ type: "login", encrypted_data: sealed() });

/** Whether a person's visibility is exact: an active member, not travelling or the vault safe. */
async function visibilityIsRight(orgId: string): Promise<boolean> {
  const wrong = await execute(
    service,
    `SELECT coalesce(s.user_id, d.user_id) FROM
       (SELECT user_id, vault_id FROM vaults.sights WHERE ended_x IS NULL AND org_id = $1) s
     FULL JOIN (
       SELECT m.user_id, m.vault_id FROM vaults.vault_members m
       JOIN vaults.vaults v ON v.id = m.vault_id
       JOIN vaults.memberships o ON o.org_id = v.org_id AND o.user_id = m.user_id
       LEFT JOIN vaults.people p ON p.user_id = m.user_id
       WHERE v.org_id = $1 AND o.status = 'active' AND o.role <> 'auditor' AND (v.safe_for_travel OR p.travelling IS NOT TRUE)
     ) d USING (user_id, vault_id)
     WHERE s.user_id IS NULL OR d.user_id IS NULL`,
    [orgId],
  );
  return wrong.length === 0;
}

await t.test("a vault that is shared while its new member begins to travel is hidden", async (t) => {
  for (const travelsFirst of [true, false]) {
    const { orgId, owner, member, path } = await company();
    const sharing = () => call(service, owner, "PUT", `${path}/members/${member.userId}`, { body: grant });
    const travelling = () => travel(service, member, true);
    const lock = { text: "SELECT FROM people WHERE user_id = $1 FOR UPDATE", values: [member.userId], waiting: 2 };
    const requests: (() => Promise<unknown>)[] = travelsFirst ? [travelling, sharing] : [sharing, travelling];
    await whileHolding(service, lock, requests);
    t.equal((await call(service, member, "GET", path)).status, 404);
    t.ok(await visibilityIsRight(orgId));
  }
});

await t.test("a vault that is created while its creator begins to travel is hidden", async (t) => {
  const { orgId, member } = await company();
  const lock = { text: "SELECT FROM people WHERE user_id = $1 FOR UPDATE", values: [member.userId], waiting: 2 };
  await whileHolding<unknown>(service, lock, [() => newVault(service, member), () => travel(service, member, true)]);
  t.same((await call(service, member, "GET", "/api/vaults")).body.data, []);
  t.ok(await visibilityIsRight(orgId));
});

await t.test("a vault that is shared while it is deleted is gone", async (t) => {
  const { orgId, owner, member, vault, path } = await company();
  await newRecord(service, owner, vault.id);
  const lock = { text: "SELECT FROM vaults WHERE id = $1 FOR UPDATE", values: [vault.id], waiting: 2 };
  const [deleted, shared] = await whileHolding(service, lock, [
    () => call(service, owner, "DELETE", path),
    () => call(service, owner, "PUT", `${path}/members/${member.userId}`, { body: grant }),
  ]);
  t.equal(deleted?.status, 204);
  t.ok(shared?.status === 404 || shared?.status === 200);
  t.equal((await call(service, member, "GET", path)).status, 404);
  t.ok(await visibilityIsRight(orgId));
});

await t.test("a write beside the removal of its author is done before it or not at all", async (t) => {
  const { owner, member, vault, path } = await company();
  await share(service, owner, vault.id, member, "write");
  const { id } = await newRecord(service, owner, vault.id);
  // The vault is locked as by a change of visibility: writers authorize again and again.
  const lock = { text: "SELECT FROM vaults WHERE id = $1 FOR UPDATE", values: [vault.id], waiting: 1 };
  const answers = await whileHolding<Answer>(service, lock, [
    () => call(service, owner, "DELETE", `${path}/members/${member.userId}`),
    () => call(service, member, "PUT", `${path}/records/${id}`, { body: content() }),
    () => call(service, member, "POST", `${path}/records`, { body: content() }),
    () => call(service, member, "DELETE", `${path}/records/${id}`),
    () => call(service, owner, "PUT", `${path}/records/${id}`, { body: content() }),
  ]);
  t.equal(answers[0]?.status, 204);
  t.equal(answers[4]?.status, 200);
  const { body } = await call(service, owner, "GET", `${path}/records`);
  const written = answers.slice(1, 4).filter(({ status }) => status < 300);
  t.equal(body.data.length, 1 + (answers[2]?.status === 201 ? 1 : 0) - (answers[3]?.status === 204 ? 1 : 0));
  for (const { status } of answers.slice(1, 4)) t.ok(status === 403 || status < 300);
  t.ok(written.length < 4);
});

await t.test("a write that began before access was revoked writes nothing afterwards", async (t) => {
  const { owner, member, vault, path } = await company();
  await share(service, owner, vault.id, member, "write");
  const { id } = await newRecord(service, owner, vault.id);
  const writes: [string, string, number, unknown?][] = [
    ["POST", `${path}/records`, 201, content()],
    ["PUT", `${path}/records/${id}`, 200, content()],
    ["DELETE", `${path}/records/${id}`, 204],
  ];
  const release = await stopWritersBeforeTheirLock(service);
  for (const [method, at, done, body] of writes) {
    const lock = { text: "SELECT pg_advisory_xact_lock(4711)", values: [], waiting: 1 };
    const write = () => call(service, member, method, at, { body });
    const [answer] = await whileHolding(service, lock, [write], async () => {
      t.equal((await call(service, owner, "DELETE", `${path}/members/${member.userId}`)).status, 204);
    });
    t.match(answer, { status: 403 }, method);
    await share(service, owner, vault.id, member, "write");
    const [again] = await whileHolding(service, lock, [write]);
    t.equal(again?.status, done, "a write that only waited is done");
  }
  await release();
});

await t.test("the snapshots of visibility are exact: records that existed at its end, and no others", async (t) => {
  const { owner, member, vault, path } = await company();
  await share(service, owner, vault.id, member, "write");
  let writing = true;
  const made: string[] = [];
  const write = async () => {
    while (writing) made.push((await newRecord(service, owner, vault.id)).id);
  };
  const read = new Set<string>();
  const look = async () => {
    while (writing) {
      const { status, body } = await call(service, member, "GET", `${path}/records`);
      if (status === 200) for (const each of body.data) read.add(each.id);
    }
  };
  const all = [write(), write(), write(), look(), look()];
  for (let n = 0; n < 6; n += 1) {
    await travel(service, member, true);
    await travel(service, member, false);
  }
  await travel(service, member, true);
  writing = false;
  await Promise.all(all);
  const seen = await execute<{ id: string }>(
    service,
    `SELECT DISTINCT r.id FROM vaults.records r JOIN vaults.sights s USING (vault_id)
     WHERE s.user_id = $1 AND s.ended_x IS NOT NULL AND pg_visible_in_snapshot(r.created_x, s.ended_snapshot)`,
    [member.userId],
  );
  const said = new Set(seen.map(({ id }) => id));
  t.ok(read.size > 0 && made.length > read.size);
  t.same(
    [...read].filter((id) => !said.has(id)),
    [],
    "every read record is in `sights`",
  );
});

await t.test("concurrent changes: visibility is right, and no request times out", async (t) => {
  const orgId = randomUUID();
  const staff: Person[] = [];
  for (let n = 0; n < 4; n += 1) staff.push(await people.add({ orgId, role: "member" }));
  const [owner] = staff;
  if (owner === undefined) throw new Error("no owner");
  const vaults: AnswerBody[] = [];
  for (let n = 0; n < 3; n += 1) vaults.push(await newVault(service, owner));
  const statuses: number[] = [];
  const note = async (answer: Promise<Answer>) => void statuses.push((await answer).status);
  const rounds = Array.from({ length: 12 }, async (_, round) => {
    const person = staff[1 + (round % 3)] ?? owner;
    const vault = vaults[round % vaults.length]?.id ?? "";
    const path = `/api/vaults/${vault}`;
    await note(call(service, owner, "PUT", `${path}/members/${person.userId}`, { body: grant }));
    await Promise.all([
      travel(service, person, round % 2 === 0),
      note(call(service, owner, "PATCH", path, { body: { safe_for_travel: round % 3 === 0 } })),
      note(call(service, person, "POST", `${path}/records`, { body: content() })),
      people.place(person, { orgId, role: "member", status: round % 5 === 0 ? "suspended" : "active" }),
      note(call(service, owner, "DELETE", `${path}/members/${person.userId}`)),
      note(call(service, owner, "POST", `${path}/records`, { body: content() })),
    ]);
  });
  await Promise.all(rounds);
  t.ok(await visibilityIsRight(orgId));
  t.same(
    statuses.filter((status) => status >= 500),
    [],
  );
});
