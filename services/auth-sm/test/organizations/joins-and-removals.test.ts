import { randomUUID } from "node:crypto";
import { ServiceError } from "@coffer/errors";
import type { AuditDraft } from "@coffer/events";
import { cutName } from "@coffer/history";
import { until } from "@coffer/testkit";
import t from "tap";
import { call } from "../support/call.ts";
import {
  append,
  clientHolder,
  createJoiningMachine,
  createSignedFolder,
  folderRes,
  holder,
  joinAs,
  joinSigned,
  machineJoinEntry,
  orgRes,
  registerKeyed,
  registerSigner,
  shareSigned,
  signNext,
  someCheck,
  stateOf,
} from "../support/histories.ts";
import { ask, bearer, createFolder, createMachine } from "../support/machines.ts";
import { join } from "../support/members.ts";
import { logIn, sealed } from "../support/people.ts";
import { rotate, rotationOf } from "../support/rotation.ts";
import { startAuthSm } from "../support/service.ts";

// How machines join, what pollers see of a history, and what is left behind by who is removed.

const service = await startAuthSm(t);
const { vaults } = service.observer;
const owner = await registerSigner(service);
const admin = await joinSigned(service, owner, "admin");
const sealedToPerson = "eyJhbGciOiJFQ0RILUVTK0EyNTZLVyJ9.a2V5.aXY.Y2lwaGVydGV4dA.dGFn";
const get = (path: string, token = owner.token, headers = {}) => call(service, "GET", path, { token, headers });

await t.test("a machine joins with the invitation of the token that it spent", async (t) => {
  const folder = await createSignedFolder(service, owner);
  const grant = [{ folder_id: folder, permission: "read" as const }];
  const machine = await createJoiningMachine(service, owner, grant);
  const other = await createJoiningMachine(service, owner, grant);
  const stranger = await createMachine(service, owner, []);
  const entry = await machineJoinEntry(service, machine, folder);
  const others = await machineJoinEntry(service, other, folder);
  t.equal((await joinAs(service, machine, folder, others)).status, 403, "another token's invitation");
  t.equal((await joinAs(service, stranger, folder, entry)).status, 403, "without a grant");
  const managers = await signNext(service, owner, folderRes(folder), { set: [clientHolder(machine, "read")] });
  t.equal((await joinAs(service, machine, folder, managers)).status, 403, "a manager's entry");
  for (const [what, set] of [
    ["another permission", clientHolder(machine, "write")],
    ["another machine", clientHolder(other, "read")],
    ["another key", { ...clientHolder(machine, "read"), key: other.publicKey }],
  ] as const) {
    const wrong = await machineJoinEntry(service, machine, folder, { change: { set: [set] } }).catch(() => null);
    // What the client's own check refuses already never reaches the service.
    if (wrong !== null) t.equal((await joinAs(service, machine, folder, wrong)).status, 400, what);
  }
  t.match(await joinAs(service, machine, folder, entry), { status: 201, body: { history_seq: 3 } });
  t.equal((await joinAs(service, machine, folder, entry)).status, 409, "again");
  t.equal((await joinAs(service, other, folder, others)).status, 409, "not the next entry any more");
  const again = await machineJoinEntry(service, other, folder);
  t.equal((await joinAs(service, other, folder, again)).status, 201);
  const record = await service.observer.record(
    "joined",
    ({ action, actor }) => action === "history.joined" && actor.id === machine.clientId,
  );
  t.match(record, { org_id: owner.orgId, target: { type: "folder", id: folder } });
});

await t.test("a revoked machine joins nothing, nor does one whose inviter has left the organization", async (t) => {
  const folder = await createSignedFolder(service, owner);
  await shareSigned(service, owner, folder, admin, "manage");
  const leaving = await joinSigned(service, owner, "admin");
  await shareSigned(service, owner, folder, leaving, "manage");
  const grant = [{ folder_id: folder, permission: "read" as const }];
  const [revoked, invited] = [
    await createJoiningMachine(service, owner, grant),
    await createJoiningMachine(service, leaving, grant),
  ];
  const entry = await machineJoinEntry(service, revoked, folder);
  const path = `/api/org/applications/${revoked.applicationId}/clients/${revoked.clientId}`;
  await call(service, "DELETE", path, { token: owner.token });
  t.equal((await joinAs(service, revoked, folder, entry)).status, 401);
  await call(service, "DELETE", `/api/org/members/${leaving.userId}`, { token: owner.token });
  const drop = await signNext(service, owner, orgRes(owner.orgId), { drop: [`user:${leaving.userId}`] });
  t.equal((await append(service, owner, orgRes(owner.orgId), drop)).status, 201);
  t.equal((await joinAs(service, invited, folder, await machineJoinEntry(service, invited, folder))).status, 400);
});

await t.test("a machine polls, and its lists change with the history", async (t) => {
  const folder = await createSignedFolder(service, owner);
  const machine = await createJoiningMachine(service, owner, [{ folder_id: folder, permission: "write" }]);
  const body = {
    folder_id: folder,
    record_type: "login",
    encrypted_payload: sealed(),
    wrapped_dek: sealed(),
    title: "one",
  };
  t.equal((await ask(service, machine, "POST", "/secrets", { body })).status, 201);
  const paths = ["/secrets", "/secrets?limit=10", "/secrets/search?title=one", "/secrets/search?title=one&limit=10"];
  const own = `/api/org/folders/${folder}/secrets`;
  const tags = async () =>
    Promise.all([...paths.map(async (path) => ask(service, machine, "GET", path)), get(own), get(`${own}?limit=10`)]);
  const before = await tags();
  for (const { body } of before) t.equal(body.data[0]?.history_seq, 1);
  const same = await tags();
  t.strictSame(
    same.map(({ headers }) => headers.get("etag")),
    before.map(({ headers }) => headers.get("etag")),
  );
  const entry = await machineJoinEntry(service, machine, folder, { perm: "write" });
  t.equal((await joinAs(service, machine, folder, entry)).status, 201);
  for (const [index, { body, headers }] of (await tags()).entries()) {
    t.equal(body.data[0]?.history_seq, 2);
    t.not(headers.get("etag"), before[index]?.headers.get("etag"), `${index}`);
  }
  const held = before[0].headers.get("etag") ?? "";
  const polled = await call(service, "GET", "/api/sm/v1/secrets", {
    token: bearer(machine),
    headers: { "if-none-match": held },
  });
  t.equal(polled.status, 200, "the poller's prepared statement sees it too");
  const fresh = polled.headers.get("etag") ?? "";
  const again = await call(service, "GET", "/api/sm/v1/secrets", {
    token: bearer(machine),
    headers: { "if-none-match": fresh },
  });
  t.equal(again.status, 304);
  t.equal((await ask(service, machine, "GET", "/folders")).body.data[0]?.history_seq, 2);
});

await t.test("a manager reads the heads of a member's histories, also after the removal", async (t) => {
  const folder = await createSignedFolder(service, owner);
  const member = await joinSigned(service, owner);
  t.equal((await shareSigned(service, owner, folder, member, "read")).status, 200);
  vaults.heads = { ["ab".repeat(32)]: [7, "cd".repeat(32)] };
  const state = await stateOf(service, owner, folderRes(folder));
  const expected = { ...vaults.heads, [await cutName(folderRes(folder))]: [state?.head.seq, state?.head.hash] };
  const path = `/api/org/members/${member.userId}/heads`;
  t.strictSame((await get(path)).body.data, expected as never);
  t.equal((await get(path, member.token)).status, 403);
  t.equal((await get(`/api/org/members/${randomUUID()}/heads`)).status, 404);
  await call(service, "DELETE", `/api/org/members/${member.userId}`, { token: owner.token });
  t.strictSame((await get(path)).body.data, expected as never, "after the removal");
  const drop = await signNext(service, owner, orgRes(owner.orgId), {
    drop: [`user:${member.userId}`],
    cut: expected as never,
  });
  t.equal((await append(service, owner, orgRes(owner.orgId), drop)).status, 201);
  t.strictSame((await get(path)).body.data, expected as never, "after the drop");
  vaults.refusal = new ServiceError("unavailable", "away");
  t.equal((await get(path)).status, 503);
  vaults.refusal = null;
});

await t.test("a person who returned signs in a folder once another manager has set that person again", async (t) => {
  const folder = await createSignedFolder(service, owner);
  const removed = await joinSigned(service, owner);
  t.equal((await shareSigned(service, owner, folder, removed, "manage")).status, 200);
  const heads = (await get(`/api/org/members/${removed.userId}/heads`)).body.data;
  await call(service, "DELETE", `/api/org/members/${removed.userId}`, { token: owner.token });
  const who = `user:${removed.userId}` as const;
  const drop = await signNext(service, owner, orgRes(owner.orgId), { drop: [who], cut: heads as never });
  t.equal((await append(service, owner, orgRes(owner.orgId), drop)).status, 201);
  const again = await signNext(service, owner, orgRes(owner.orgId), { drop: [who], cut: heads as never });
  t.equal((await append(service, owner, orgRes(owner.orgId), again)).status, 201, "a cut is stated again");
  const cuts = (): AuditDraft[] =>
    service.observer.records.filter(({ action, target }) => action === "history.cut" && target.id === removed.userId);
  await until("both cuts are recorded", () => cuts().length === 2);
  const changes = { histories: Object.keys(heads).length };
  for (const cut of cuts()) t.match(cut, { org_id: owner.orgId, actor: { id: owner.userId }, changes });
  // The removal has ended every session of the person.
  const member = { ...removed, ...(await logIn(service, removed)) };
  await joinSigned(service, owner, "member", member);
  const state = await stateOf(service, owner, folderRes(folder));
  t.equal(state?.head.seq, 1, "the folder still names the person");

  // Another program gives the folder again without an entry.
  const path = `/api/org/folders/${folder}/members/${member.userId}`;
  const body = { permission: "manage", encrypted_key: sealedToPerson };
  t.equal((await call(service, "PUT", path, { token: owner.token, body })).status, 200);
  const rename = async (name: string) => {
    const entry = await signNext(service, member, folderRes(folder), { name });
    return call(service, "PATCH", `/api/org/folders/${folder}`, { token: member.token, body: { name, entry } });
  };
  t.match(await rename("before"), { status: 400, body: { message: /came back/ } });
  t.equal((await shareSigned(service, owner, folder, member, "manage")).status, 200, "an entry may come all the same");
  t.match(await rename("after"), { status: 200 });
});

await t.test("a cut at an entry that no history has is compared, with any number", async (t) => {
  const folder = await createSignedFolder(service, owner);
  const removed = await joinSigned(service, owner);
  t.equal((await shareSigned(service, owner, folder, removed, "manage")).status, 200);
  await call(service, "DELETE", `/api/org/members/${removed.userId}`, { token: owner.token });
  const cut = { [await cutName(folderRes(folder))]: [Number.MAX_SAFE_INTEGER, "0".repeat(64)] };
  const drop = await signNext(service, owner, orgRes(owner.orgId), {
    drop: [`user:${removed.userId}`],
    cut: cut as never,
  });
  t.equal((await append(service, owner, orgRes(owner.orgId), drop)).status, 201);
  const member = { ...removed, ...(await logIn(service, removed)) };
  await joinSigned(service, owner, "member", member);
  t.equal((await shareSigned(service, owner, folder, member, "manage")).status, 200);
  const entry = await signNext(service, member, folderRes(folder), { name: "mine" });
  const body = { name: "mine", entry };
  const answer = await call(service, "PATCH", `/api/org/folders/${folder}`, { token: member.token, body });
  t.match(answer, { status: 400, body: { message: /came back/ } });
});

await t.test("what a person signed for is cut too, when the person holds it no more", async (t) => {
  const folder = await createSignedFolder(service, owner);
  const member = await joinSigned(service, owner);
  t.equal((await shareSigned(service, owner, folder, member, "manage")).status, 200);
  const other = await joinSigned(service, owner);
  t.equal((await shareSigned(service, member, folder, other, "read")).status, 200);
  const drop = await signNext(service, owner, folderRes(folder), {
    drop: [`user:${member.userId}`],
    ver: 2,
    check: someCheck(),
  });
  await call(service, "DELETE", `/api/org/folders/${folder}/members/${member.userId}`, { token: owner.token });
  t.equal(
    (await rotate(service, owner, folder, { ...(await rotationOf(service, owner, folder)), entry: drop })).status,
    200,
  );
  const heads = (await get(`/api/org/members/${member.userId}/heads`)).body.data;
  t.ok(Object.hasOwn(heads, await cutName(folderRes(folder))));
});

await t.test("the only manager of something with a history is not removed without force", async (t) => {
  const alone = await joinSigned(service, owner, "admin");
  const remove = (query = "", token = owner.token) =>
    call(service, "DELETE", `/api/org/members/${alone.userId}${query}`, { token });
  const folder = await createSignedFolder(service, alone, `only "mine"`);
  const shared = await createSignedFolder(service, alone, "managed by two");
  t.equal((await shareSigned(service, alone, shared, admin, "manage")).status, 200);
  await createFolder(service, alone, "without a history");
  const [seen, hidden] = [
    { id: randomUUID(), name: "a seen vault" },
    { id: randomUUID(), name: "a hidden vault" },
  ];
  vaults.soleManaged = [seen, hidden];
  vaults.viewers.set(seen.id, [alone.userId, randomUUID(), owner.userId]);
  vaults.viewers.set(hidden.id, [alone.userId]);
  const refused = await remove();
  t.equal(refused.status, 409);
  t.match(refused.body.message, `the folder ${JSON.stringify('only "mine"')}`);
  t.match(refused.body.message, /"a seen vault", 1 more/);
  t.notMatch(refused.body.message, /hidden|two|without a history/);
  vaults.refusal = new ServiceError("unavailable", "away");
  t.match(await remove(), { status: 503, body: { message: /force=true/ } });
  const member = await joinSigned(service, owner).catch(() => null);
  if (member !== null)
    t.equal((await remove("", member.token)).status, 403, "a member without the right to remove learns nothing");
  t.equal((await remove("?force=true")).status, 204, "never waits for the vaults");
  vaults.refusal = null;
  vaults.soleManaged = [];
  t.ok(
    (await stateOf(service, owner, folderRes(folder)))?.holders.some(({ who }) => who === `user:${alone.userId}`),
    "the drop is pending",
  );
});

await t.test("a person who leaves alone reads the names of own folders", async (t) => {
  const leaving = await joinSigned(service, owner, "admin");
  const folder = await createSignedFolder(service, leaving, "to be handed over");
  const leave = () => call(service, "DELETE", `/api/org/members/${leaving.userId}`, { token: leaving.token });
  t.match(await leave(), { status: 409, body: { message: /to be handed over/ } });
  t.equal((await shareSigned(service, leaving, folder, admin, "manage")).status, 200);
  t.equal((await leave()).status, 204);
});

await t.test(
  "a folder's history is read by its holders, owners and admins; not by auditors and strangers",
  async (t) => {
    const folder = await createSignedFolder(service, owner);
    const reader = await joinSigned(service, owner);
    const member = await joinSigned(service, owner);
    const auditor = await joinSigned(service, owner, "auditor");
    const stranger = await registerSigner(service);
    t.equal((await shareSigned(service, owner, folder, reader, "read")).status, 200);
    const path = `/api/org/folders/${folder}/history`;
    const statuses = await Promise.all(
      [owner, admin, reader, member, auditor, stranger].map(({ token }) => get(path, token)),
    );
    t.strictSame(
      statuses.map(({ status }) => status),
      [200, 200, 200, 403, 403, 404],
    );
    t.equal((await get("/api/org/history", auditor.token)).status, 200);
    const entry = await signNext(service, owner, folderRes(folder), { set: [holder(reader, "write")] });
    t.equal((await append(service, owner, folderRes(folder), entry)).status, 400, "a share is no entry by itself");
    t.equal((await append(service, reader, folderRes(folder), entry)).status, 403);
  },
);

await t.test("a history goes with its folder", async (t) => {
  const folder = await createSignedFolder(service, owner);
  t.equal((await call(service, "DELETE", `/api/org/folders/${folder}`, { token: owner.token })).status, 204);
  t.equal((await get(`/api/org/folders/${folder}/history`)).status, 404);
});

await t.test("suspension signs nothing, and a suspended holder is not dropped", async (t) => {
  const folder = await createSignedFolder(service, owner);
  const member = await joinSigned(service, owner);
  t.equal((await shareSigned(service, owner, folder, member, "read")).status, 200);
  await join(service, owner.orgId, member, "member", "suspended");
  const body = await rotationOf(service, owner, folder);
  const rotation = async (drop: string[]) =>
    rotate(service, owner, folder, {
      ...body,
      entry: await signNext(service, owner, folderRes(folder), { ver: 2, check: someCheck(), drop }),
    });
  t.equal((await rotation([`user:${member.userId}`])).status, 400);
  t.equal((await rotation([])).status, 200);
});

await t.test("the keyring is stored version by version", async (t) => {
  const person = await registerKeyed(service);
  const { token } = person;
  const put = (version: number, keyring = sealed()) =>
    call(service, "PUT", "/api/account/keyring", { token, body: { version, sealed: keyring } });
  t.equal((await get("/api/account/keyring", token)).status, 404);
  t.equal((await put(2)).status, 412);
  const first = sealed();
  t.match(await put(1, first), { status: 200, body: { version: 1, sealed: first } });
  t.equal((await put(1)).status, 412);
  t.equal((await put(3)).status, 412);
  const both = await Promise.all([put(2), put(2)]);
  t.strictSame(both.map(({ status }) => status).sort(), [200, 412]);
  t.match((await get("/api/account/keyring", token)).body, { version: 2 });
  t.equal((await put(3, "A".repeat(512 * 1024 + 4))).status, 413);
  const keyring = sealed();
  const registered = await registerSigner(service, { keyring });
  t.match((await get("/api/account/keyring", registered.token)).body, { version: 1, sealed: keyring });
});
