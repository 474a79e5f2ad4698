import { randomUUID } from "node:crypto";
import type { AuditDraft } from "@coffer/events";
import { firstPreviousHash, verifyAuditChain } from "@coffer/events";
import t from "tap";
import { draftOf, draftsOf } from "../delivery/draft.ts";
import { startForwarder, startStores } from "../forwarder.ts";

const { people, append, list, listAll } = await startForwarder(t, await startStores(t));

/** An organization with these records and its owner. */
async function filled(drafts: (orgId: string) => AuditDraft[]) {
  const orgId = randomUUID();
  const records = drafts(orgId);
  await append(records);
  return { orgId, owner: await people.add([{ orgId, role: "owner" }]), records };
}

await t.test("an organization to which nothing happened has an empty list and no head", async (t) => {
  const owner = await people.add([{ orgId: randomUUID(), role: "owner" }]);
  const { status, body } = await list(owner);
  t.equal(status, 200);
  t.same(body, { data: [], next_cursor: null, head: null });
  t.same((await list(owner, { from: "2026-01-01T00:00:00Z" })).body, body);
});

await t.test("100 records come without a limit, oldest first, and the head is that of the whole chain", async (t) => {
  const { owner } = await filled((orgId) => draftsOf(orgId, 101));
  const { body } = await list(owner);
  t.same(
    body.data.map(({ seq }) => seq),
    Array.from({ length: 100 }, (_, at) => at + 1),
  );
  t.equal(body.head?.seq, 101);
  const last = await list(owner, { cursor: body.next_cursor ?? "" });
  t.match(last.body, { data: [{ seq: 101 }], next_cursor: null });
  t.equal(last.body.head?.hash, last.body.data[0]?.hash);
});

await t.test("pages of any size join without a gap or a repetition, both ways", async (t) => {
  const { owner } = await filled((orgId) => draftsOf(orgId, 12));
  const upwards = Array.from({ length: 12 }, (_, at) => at + 1);
  for (const limit of [1, 5, 6, 11, 12, 13]) {
    t.same(
      (await listAll(owner, { limit })).map(({ seq }) => seq),
      upwards,
      `${limit} at a time`,
    );
    t.same(
      (await listAll(owner, { limit, order: "desc" })).map(({ seq }) => seq),
      upwards.toReversed(),
      `${limit} at a time, newest first`,
    );
  }
  t.equal((await list(owner, { limit: 12 })).body.next_cursor, null, "a page that is exactly full may be the last");
  t.type((await list(owner, { limit: 11 })).body.next_cursor, "string");
});

await t.test("after leaves out a seq and all earlier ones, with each page and both ways", async (t) => {
  const { owner } = await filled((orgId) => draftsOf(orgId, 12));
  const seqs = async (query: Record<string, string | number>) => (await listAll(owner, query)).map(({ seq }) => seq);
  t.same(await seqs({ after: 9 }), [10, 11, 12]);
  t.same(await seqs({ after: 9, limit: 1 }), [10, 11, 12]);
  t.same(await seqs({ after: 9, limit: 2, order: "desc" }), [12, 11, 10]);
  t.same(
    await seqs({ after: 0 }),
    Array.from({ length: 12 }, (_, at) => at + 1),
  );
  t.same(await seqs({ after: 12 }), []);
  for (const after of ["-1", "1.5", "x", "", "1".repeat(16)])
    t.equal((await list(owner, { after })).status, 400, after);
});

await t.test("limit is 1 to 1000", async (t) => {
  const { owner } = await filled((orgId) => draftsOf(orgId, 400));
  for (const limit of ["0", "1001", "-1", "1.5", "ten", ""]) t.equal((await list(owner, { limit })).status, 400, limit);
  t.equal((await list(owner, { limit: 1 })).body.data.length, 1);
  t.equal((await list(owner, { limit: 1000 })).body.data.length, 400);
});

await t.test("records appended between two pages come at the end, and newest first not at all", async (t) => {
  const { orgId, owner } = await filled((id) => draftsOf(id, 4));
  const up = await list(owner, { limit: 2 });
  const down = await list(owner, { limit: 2, order: "desc" });
  await append(draftsOf(orgId, 2));
  const seqs = async (query: Record<string, string | number>) =>
    (await list(owner, query)).body.data.map(({ seq }) => seq);
  t.same(await seqs({ cursor: up.body.next_cursor ?? "" }), [3, 4, 5, 6]);
  t.same(await seqs({ cursor: down.body.next_cursor ?? "", order: "desc" }), [2, 1]);
});

await t.test("action, actor_id and outcome select, alone and together", async (t) => {
  const [anna, berta] = [randomUUID(), randomUUID()];
  const by = (id: string) => ({ actor: { type: "user" as const, id } });
  const { owner } = await filled((orgId) => [
    draftOf(orgId, { ...by(anna), action: "folder.created" }),
    draftOf(orgId, { ...by(anna), action: "secret.read", outcome: "denied" }),
    draftOf(orgId, { ...by(berta), action: "secret.read" }),
    draftOf(orgId, { ...by(berta), action: "secret.read", outcome: "denied" }),
    draftOf(orgId, { actor: { type: "system", id: "stripe" }, action: "org.member.removed", outcome: "failure" }),
    draftOf(orgId, { actor: { type: "anonymous", id: null }, action: "client.auth.failed", outcome: "failure" }),
  ]);
  const seqs = async (query: Record<string, string>) => (await listAll(owner, query)).map(({ seq }) => seq);
  t.same(await seqs({ action: "secret.read" }), [2, 3, 4]);
  t.same(await seqs({ actor_id: anna }), [1, 2]);
  t.same(await seqs({ actor_id: anna.toUpperCase() }), [1, 2]);
  t.same(await seqs({ actor_id: "stripe" }), [5]);
  t.same(await seqs({ actor_id: randomUUID() }), []);
  t.same(await seqs({ outcome: "success" }), [1, 3]);
  t.same(await seqs({ outcome: "denied" }), [2, 4]);
  t.same(await seqs({ outcome: "failure" }), [5, 6]);
  t.same(await seqs({ outcome: "denied", order: "desc" }), [4, 2]);
  t.same(await seqs({ outcome: "denied", actor_id: berta, action: "secret.read" }), [4]);
  t.same(await seqs({ outcome: "denied", action: "folder.created" }), []);
});

await t.test("each combination of filters selects the records that match all of them, both ways", async (t) => {
  const actions = ["folder.created", "secret.read", "secret.updated"] as const;
  const outcomes = ["success", "denied", "failure"] as const;
  const actors = [randomUUID(), randomUUID(), null];
  const { orgId, owner, records } = await filled((id) =>
    // Every combination occurs in each run of 27 records.
    Array.from({ length: 216 }, (_, n) =>
      draftOf(id, {
        action: actions[n % 3] ?? "secret.read",
        outcome: outcomes[Math.floor(n / 3) % 3] ?? "success",
        actor: { type: "client", id: actors[Math.floor(n / 9) % 3] ?? null },
        time: `2026-11-20T10:00:00.${String(n).padStart(6, "0")}Z`,
      }),
    ),
  );
  t.equal(records[0]?.org_id, orgId);
  const span = { from: "2026-11-20T10:00:00.000050Z", to: "2026-11-20T10:00:00.000150Z" };
  for (const action of [undefined, ...actions])
    for (const outcome of [undefined, ...outcomes])
      for (const actor of [undefined, actors[0], randomUUID()])
        for (const order of ["asc", "desc"] as const)
          for (const times of [undefined, span]) {
            const expected = records.flatMap((one, at) =>
              (action ?? one.action) === one.action &&
              (outcome ?? one.outcome) === one.outcome &&
              (actor ?? one.actor.id) === one.actor.id &&
              (times === undefined || (at >= 50 && at < 150))
                ? [at + 1]
                : [],
            );
            const query = {
              limit: 17,
              order,
              ...(action && { action }),
              ...(outcome && { outcome }),
              ...(actor && { actor_id: actor }),
              ...times,
            };
            const found = (await listAll(owner, query)).map(({ seq }) => seq);
            t.same(found, order === "asc" ? expected : expected.toReversed(), JSON.stringify(query));
          }
});

await t.test("from is inclusive, to is not, to the microsecond, in whatever order records came", async (t) => {
  const at = (time: string) => ({ time: `2026-11-20T${time}Z` });
  const { owner } = await filled((orgId) => [
    draftOf(orgId, at("10:00:00.000001")),
    draftOf(orgId, at("12:59:59.999999")),
    draftOf(orgId, at("10:00:00.000000")),
    draftOf(orgId, at("13:00:00")),
    draftOf(orgId, at("09:59:59.999999")),
    draftOf(orgId, at("11:30:00.5")),
  ]);
  const seqs = async (from: string | null, to: string | null, more: Record<string, string | number> = {}) =>
    (
      await listAll(owner, {
        ...(from === null ? {} : { from: at(from).time }),
        ...(to === null ? {} : { to: at(to).time }),
        ...more,
      })
    ).map(({ seq }) => seq);
  t.same(await seqs("10:00:00", null), [1, 2, 3, 4, 6]);
  t.same(await seqs("10:00:00.000001", null), [1, 2, 4, 6]);
  t.same(await seqs("10:00:00.000002", null), [2, 4, 6]);
  t.same(await seqs(null, "10:00:00"), [5]);
  t.same(await seqs(null, "10:00:00.000001"), [3, 5]);
  t.same(await seqs(null, "13:00:00"), [1, 2, 3, 5, 6]);
  t.same(await seqs(null, "13:00:00.000001"), [1, 2, 3, 4, 5, 6]);
  t.same(await seqs("11:00:00", "12:00:00"), [6]);
  t.same(await seqs("10:00:00", "13:00:00", { limit: 1 }), [1, 2, 3, 6]);
  t.same(await seqs("10:00:00", "13:00:00", { limit: 1, order: "desc" }), [6, 3, 2, 1]);
  t.same(await seqs("10:00:00", "10:00:00"), [], "an empty span");
  t.same(await seqs("14:00:00", null), []);
  t.same(await seqs(null, "09:00:00"), []);
  t.same(await seqs("12:00:00", "12:30:00"), []);
});

await t.test("records of one hour are found wherever later requests put them", async (t) => {
  const time = (minute: number) => `2026-11-20T10:${String(minute).padStart(2, "0")}:00.000000Z`;
  const other = { time: "2026-11-20T14:00:00.000000Z" };
  const { orgId, owner } = await filled((id) => [draftOf(id, { time: time(30) }), draftOf(id, other)]);
  for (const minute of [10, 50]) await append([draftOf(orgId, other), draftOf(orgId, { time: time(minute) })]);
  const seqs = async (from: number, to: number) =>
    (await listAll(owner, { from: time(from), to: time(to) })).map(({ seq }) => seq);
  t.same(await seqs(0, 59), [1, 4, 6]);
  t.same(await seqs(40, 59), [6]);
  t.same(await seqs(0, 20), [4]);
  t.same(await seqs(20, 40), [1]);
});

await t.test("a query that is not one is refused with 400 and the field's name", async (t) => {
  const { owner } = await filled((orgId) => draftsOf(orgId, 1));
  const wrong: [field: string, value: string][] = [
    ["from", "yesterday"],
    ["from", "2026-11-20"],
    ["from", "2026-11-20T10:00:00+01:00"],
    ["from", "2026-02-30T10:00:00Z"],
    ["from", "0000-01-01T00:00:00Z"],
    ["from", `2026-11-20T10:00:00.${"0".repeat(300)}Z`],
    ["to", "9999-12-31T23:59:59.9999999Z"],
    ["to", "2026-11-20T25:00:00Z"],
    ["action", "secret"],
    ["action", ""],
    ["actor_id", ""],
    ["actor_id", "a\0b"],
    ["actor_id", "x".repeat(129)],
    ["outcome", "ok"],
    ["order", "up"],
    ["cursor", "?"],
  ];
  for (const [field, value] of wrong) {
    const { status, body } = await list(owner, { [field]: value });
    t.equal(status, 400, `${field}=${JSON.stringify(value)}`);
    t.match(body, { error: "invalid_request", details: [{ field }] });
  }
  t.equal((await list(owner, { actor_id: "x".repeat(128) })).status, 200);
  t.equal((await list(owner, { from: "0001-01-01T00:00:00Z", to: "9999-12-31T23:59:59.999999Z" })).status, 200);
  t.match(await list(owner, { from: "2026-11-20T10:00:00Z", to: "2026-11-20T09:00:00Z" }), {
    status: 400,
    body: { details: [{ field: "to" }] },
  });
  t.equal((await list(owner, { colour: "blue" })).status, 200, "what is not known is ignored");
});

await t.test("a cursor that this list did not give is refused with 400", async (t) => {
  const { owner } = await filled((orgId) => draftsOf(orgId, 1));
  const made = (value: unknown) => Buffer.from(JSON.stringify(value)).toString("base64url");
  const wrong = [
    "AAAA",
    made({}),
    made({ after: 0 }),
    made({ after: "1" }),
    made({ after: 1, or: 1 }),
    made({ after: 2 ** 60 }),
  ];
  for (const cursor of wrong) {
    const { status, body } = await list(owner, { cursor });
    t.match({ status, body }, { status: 400, body: { error: "invalid_request" } }, cursor);
  }
  t.match(await list(owner, { cursor: made({ after: 500 }) }), { status: 200, body: { data: [], next_cursor: null } });
});

await t.test("what is listed page by page is a whole chain up to the head", async (t) => {
  const { owner } = await filled((orgId) => draftsOf(orgId, 250));
  const records = await listAll(owner, { limit: 99 });
  const head = (await list(owner, { limit: 1 })).body.head;
  t.same(verifyAuditChain({ seq: 0, hash: firstPreviousHash }, records), head);
});

await t.test("answers carry the user bucket's headers", async (t) => {
  const { owner } = await filled((orgId) => draftsOf(orgId, 1));
  const { headers } = await list(owner);
  t.match(headers.get("ratelimit-policy"), /^"user";q=\d+;w=60$/);
  t.match(headers.get("ratelimit"), /^"user";r=\d+;t=\d+$/);
});
