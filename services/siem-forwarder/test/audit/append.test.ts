import { randomUUID } from "node:crypto";
import { firstPreviousHash, hashOfAudit, verifyAuditChain } from "@coffer/events";
import t from "tap";
import { draftOf, draftsOf } from "../delivery/draft.ts";
import { startForwarder, startReplica, startStores } from "../forwarder.ts";

const empty = { seq: 0, hash: firstPreviousHash };
const forwarder = await startForwarder(t, await startStores(t));
const { people, append, listAll } = forwarder;

await t.test("records are chained in the order in which they come, from place 1", async (t) => {
  const orgId = randomUUID();
  const owner = await people.add([{ orgId, role: "owner" }]);
  const drafts = draftsOf(orgId, 3);
  t.equal(await append(drafts.slice(0, 2)), 2);
  t.equal(await append(drafts.slice(2)), 1);
  const records = await listAll(owner);
  t.same(
    records.map(({ seq }) => seq),
    [1, 2, 3],
  );
  t.equal(records[0]?.prev_hash, firstPreviousHash);
  records.forEach((record, index) => {
    const { seq, prev_hash, hash, ...rest } = record;
    t.same(rest, drafts[index], "a record is what was sent");
    t.equal(hash, hashOfAudit(record));
    if (index > 0) t.equal(prev_hash, records[index - 1]?.hash);
    t.equal(seq, index + 1);
  });
});

await t.test("one request may be about several organizations, each with its own chain", async (t) => {
  const [first, second] = [randomUUID(), randomUUID()];
  const owner = await people.add([{ orgId: first, role: "owner" }]);
  const other = await people.add([{ orgId: second, role: "owner" }]);
  t.equal(await append([draftOf(first), draftOf(second), draftOf(first), draftOf(second), draftOf(first)]), 5);
  t.same(
    (await listAll(owner)).map(({ org_id, seq }) => [org_id, seq]),
    [1, 2, 3].map((seq) => [first, seq]),
  );
  t.same(
    (await listAll(other)).map(({ org_id, seq }) => [org_id, seq]),
    [1, 2].map((seq) => [second, seq]),
  );
});

await t.test("an organization has one chain, however its id is written", async (t) => {
  const orgId = randomUUID();
  const owner = await people.add([{ orgId, role: "owner" }]);
  t.equal(await append([draftOf(orgId.toUpperCase()), draftOf(orgId)]), 2);
  t.equal(await append([draftOf(orgId.toUpperCase())]), 1);
  t.same(
    (await listAll(owner)).map(({ seq }) => seq),
    [1, 2, 3],
  );
});

await t.test("a record that comes again, in the same request or a later one, changes nothing", async (t) => {
  const orgId = randomUUID();
  const owner = await people.add([{ orgId, role: "owner" }]);
  const [first, second, third] = draftsOf(orgId, 3);
  if (first === undefined || second === undefined || third === undefined) throw new Error("three were made");
  t.equal(await append([first, second, first]), 2);
  t.equal(await append([second, first]), 0);
  t.equal(await append([{ ...first, id: first.id.toUpperCase() }]), 0, "an id has one meaning in either case");
  t.equal(await append([first, third, { ...third, id: third.id.toUpperCase() }, second]), 1);
  t.same(
    (await listAll(owner)).map(({ id }) => id),
    [first.id, second.id, third.id],
  );
});

await t.test(
  "20 requests at once with overlapping records, at two replicas, store each once without a gap",
  async (t) => {
    await startReplica(t, forwarder);
    const orgIds = [randomUUID(), randomUUID(), randomUUID()];
    const owners = await Promise.all(orgIds.map((orgId) => people.add([{ orgId, role: "owner" }])));
    const drafts = orgIds
      .flatMap((orgId) => draftsOf(orgId, 200))
      .sort((a, b) => (a.request.id < b.request.id ? -1 : 1));
    // Each of the 600 is in two of the requests, and every request is about every chain.
    const requests = Array.from({ length: 20 }, (_, number) =>
      drafts.filter((_draft, index) => index % 20 === number || (index + 7) % 20 === number),
    );
    const stored = await Promise.all(requests.map((records) => append(records)));
    t.equal(
      stored.reduce((sum, count) => sum + count, 0),
      600,
    );
    for (const [index, owner] of owners.entries()) {
      const records = await listAll(owner);
      t.same(
        records.map(({ seq }) => seq),
        Array.from({ length: 200 }, (_, at) => at + 1),
      );
      t.equal(new Set(records.map(({ id }) => id)).size, 200);
      t.ok(records.every(({ org_id }) => org_id === orgIds[index]));
      t.match(verifyAuditChain(empty, records), { seq: 200 });
    }
  },
);

await t.test("ten requests at once may all be the first of a chain", async (t) => {
  const orgId = randomUUID();
  const owner = await people.add([{ orgId, role: "owner" }]);
  await Promise.all(Array.from({ length: 10 }, () => append(draftsOf(orgId, 2))));
  t.match(verifyAuditChain(empty, await listAll(owner)), { seq: 20 });
});

await t.test("a person without an organization has a chain of their own, which no organization sees", async (t) => {
  const orgId = randomUUID();
  const owner = await people.add([{ orgId, role: "owner" }]);
  const userId = randomUUID();
  const own = { action: "user.login.succeeded", target: { type: "user", id: userId } } as const;
  t.equal(await append([draftOf(null, { ...own, actor: { type: "user", id: userId } })]), 1);
  t.equal(
    await append([draftOf(null, { ...own, action: "user.login.failed", actor: { type: "anonymous", id: null } })]),
    1,
  );
  t.same(await listAll(owner), []);
  // A member of an organization with the id of that person's chain can read it; a test has no other way.
  const reader = await people.add([{ orgId: userId, role: "auditor" }]);
  t.match(await listAll(reader), [
    { seq: 1, org_id: null },
    { seq: 2, org_id: null },
  ]);
});

await t.test("a record that no chain can hold is refused by name, and nothing of its request is stored", async (t) => {
  const orgId = randomUUID();
  const owner = await people.add([{ orgId, role: "owner" }]);
  const misfits = [
    draftOf(null),
    draftOf("acme"),
    draftOf(orgId, { time: "0000-01-01T00:00:00Z" }),
    draftOf(orgId, { time: "9999-12-31T23:59:59.9999999Z" }),
    draftOf(orgId, { actor: { type: "user", id: "a\0b" } }),
    draftOf(orgId, { target: { type: "secret", id: "\ud800" } }),
  ];
  for (const misfit of misfits) {
    const attempt = append([draftOf(orgId), misfit, draftOf(orgId)]);
    await t.rejects(attempt, { code: "invalid_request", message: new RegExp(misfit.id) });
  }
  t.same(await listAll(owner), []);
});

await t.test("a record of a newer version is stored with the action that this one does not know", async (t) => {
  const orgId = randomUUID();
  const owner = await people.add([{ orgId, role: "owner" }]);
  t.equal(await append([draftOf(orgId, { action: "secret.sealed" as never })]), 1); // the point of the test
  t.match(await listAll(owner), [{ action: "secret.sealed", seq: 1 }]);
});

await t.test("text that only JSON can hold is kept as it is", async (t) => {
  const orgId = randomUUID();
  const owner = await people.add([{ orgId, role: "owner" }]);
  const changes = { "a\nb": '"\\\u2028', "\u0000": [], n: 1e21, z: -0 };
  t.equal(await append([draftOf(orgId, { changes: changes })]), 1); // odd, and of the right shape
  const records = await listAll(owner);
  t.match(verifyAuditChain(empty, records), { seq: 1 });
  t.same(records[0]?.changes, { "a\nb": '"\\\u2028', "\u0000": [], n: 1e21, z: 0 });
});
