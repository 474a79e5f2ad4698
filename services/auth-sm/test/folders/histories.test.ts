import { randomUUID } from "node:crypto";
import { newKeyPair } from "@coffer/crypto";
import { sign } from "@coffer/history";
import t from "tap";
import { call } from "../support/call.ts";
import {
  append,
  createSignedFolder,
  holder,
  folderRes,
  joinSigned,
  memberHolder,
  orgRes,
  registerKeyed,
  registerSigner,
  signNext,
  someCheck,
  stateOf,
} from "../support/histories.ts";
import { createFolder } from "../support/machines.ts";
import { execute, join } from "../support/members.ts";
import { sealed } from "../support/people.ts";
import { startAuthSm } from "../support/service.ts";

// Histories of organizations and folders: how they begin, are read and are extended by themselves.

const service = await startAuthSm(t);
const owner = await registerSigner(service);
const res = orgRes(owner.orgId);

await t.test("registration founds an organization with a history", async (t) => {
  const org = await call(service, "GET", "/api/org", { token: owner.token });
  t.match(org.body, { id: owner.orgId, history_seq: 0 });
  const state = await stateOf(service, owner, res);
  t.strictSame(state?.holders, [memberHolder(owner, "manage")]);
  t.equal(state?.name, org.body.name);
});

await t.test("an organization can be founded with a history later, by an id that is not taken", async (t) => {
  const id = randomUUID();
  const change = { name: "Later", set: [memberHolder(owner, "manage")] };
  const { text } = await sign(null, orgRes(id), `user:${owner.userId}`, owner.privateKey, change);
  const asked = (body: object) => call(service, "POST", "/api/orgs", { token: owner.token, body });
  t.equal((await asked({ id, name: "Another name", entry: text })).status, 400);
  t.equal((await asked({ name: "Later", entry: text })).status, 400, "the entry names its organization");
  t.match((await asked({ id, name: "Later", entry: text })).body, { id, history_seq: 0 });
  t.equal((await asked({ id, name: "Later" })).status, 409);
  t.match((await asked({ name: "Plain" })).body, { history_seq: null });
});

await t.test("a folder begins with a history only where its organization has one", async (t) => {
  const folder = await createSignedFolder(service, owner);
  const { body } = await call(service, "GET", "/api/org/folders", { token: owner.token });
  t.equal(body.data.find(({ id }) => id === folder)?.history_seq, 0);
  t.match(await stateOf(service, owner, folderRes(folder)), { ver: 1, org: owner.orgId });
  const plain = await registerSigner(service, { history: false });
  await t.rejects(createSignedFolder(service, plain), /the organization has no history/);
  t.equal((await call(service, "GET", "/api/org/history", { token: plain.token })).body.history_seq, null);
});

await t.test("a folder's first entry matches the request", async (t) => {
  const id = randomUUID();
  const stranger = await registerKeyed(service);
  const good = { org: owner.orgId, name: "made", set: [holder(owner, "manage")], ver: 1, check: someCheck() };
  const made = async (change: object, signer = owner) =>
    (await sign(null, folderRes(id), `user:${signer.userId}`, signer.privateKey, { ...good, ...change })).text;
  const asked = (entry: string) => {
    const body = { id, name: "made", encrypted_key: sealed(), entry };
    return call(service, "POST", "/api/org/folders", { token: owner.token, body });
  };
  const { publicKey, privateKey } = await newKeyPair();
  const wrongKey = { ...owner, publicKey, privateKey };
  for (const [what, entry, status] of [
    ["another name", await made({ name: "other" }), 400],
    ["another organization", await made({ org: randomUUID() }), 400],
    ["another version", await made({ ver: 2 }), 400],
    ["another key", await made({ set: [holder(wrongKey, "manage")] }, wrongKey), 400],
    ["another holder too", await made({ set: [holder(owner, "manage"), holder(stranger, "read")] }), 400],
    ["another signer", await made({ set: [holder(stranger, "manage")] }, stranger), 403],
    ["no entry", "a.b.c", 400],
  ] as const)
    t.equal((await asked(entry)).status, status, what);
  t.equal((await asked(await made({}))).status, 201);
});

await t.test("an organization is adopted once, with members as it has them", async (t) => {
  const plain = await registerSigner(service, { history: false });
  const member = await registerKeyed(service);
  await join(service, plain.orgId, member, "member");
  const at = orgRes(plain.orgId);
  const name = "A signed organization";
  const adopt = async (change: object) =>
    append(
      service,
      plain,
      at,
      (await sign(null, at, `user:${plain.userId}`, plain.privateKey, { name, ...change })).text,
    );
  const both = [memberHolder(plain, "manage"), memberHolder(member, "read")];
  t.equal((await adopt({ name: "Other", set: both })).status, 400);
  t.equal((await adopt({ set: [memberHolder(plain, "manage"), memberHolder(member, "manage")] })).status, 400);
  t.match(await adopt({ set: both }), { status: 201, body: { history_seq: 0 } });
  t.equal((await adopt({ set: both })).status, 409);
  const record = await service.observer.record(
    "adopted",
    ({ action, org_id }) => action === "history.adopted" && org_id === plain.orgId,
  );
  t.match(record, { actor: { id: plain.userId }, target: { type: "org", id: plain.orgId } });
});

await t.test("a folder is adopted with its present key version, and needs the organization's history", async (t) => {
  const plain = await registerSigner(service, { history: false });
  const unsigned = await createFolder(service, plain, "unsigned");
  const adoption = async (by: typeof plain, id: string, change: object = {}) => {
    const good = { org: by.orgId, name: "unsigned", set: [holder(by, "manage")], ver: 3, check: someCheck() };
    const { text } = await sign(null, folderRes(id), `user:${by.userId}`, by.privateKey, { ...good, ...change });
    return append(service, by, folderRes(id), text);
  };
  t.equal((await adoption(plain, unsigned, { ver: 1 })).status, 400);
  const folder = await createFolder(service, owner, "unsigned");
  await execute(service, "UPDATE auth_sm.folders SET key_version = 3 WHERE id = $1", [folder]);
  t.equal((await adoption(owner, folder, { ver: 1 })).status, 400);
  t.equal((await adoption(owner, folder, { name: "other" })).status, 400);
  t.match(await adoption(owner, folder), { status: 201, body: { history_seq: 0 } });
  t.equal((await adoption(owner, folder)).status, 409);
});

await t.test("a member is confirmed as the organization has the person", async (t) => {
  const member = await registerKeyed(service);
  await join(service, owner.orgId, member, "member");
  const confirm = async (set: object) =>
    append(service, owner, res, await signNext(service, owner, res, { set: [set as never] }));
  t.equal((await confirm(memberHolder(member, "manage"))).status, 400);
  t.equal((await confirm(memberHolder(await registerKeyed(service), "read"))).status, 400);
  t.equal((await confirm({ ...memberHolder(member, "read"), key: (await newKeyPair()).publicKey })).status, 400);
  t.equal((await confirm(memberHolder(member, "read"))).status, 201);
  const record = await service.observer.record(
    "trusted",
    ({ action, target }) => action === "history.trusted" && target.id === member.userId,
  );
  t.match(record, { org_id: owner.orgId, actor: { id: owner.userId }, changes: { permission: "read" } });
});

await t.test("an entry is refused that is not the next one, or is not the caller's", async (t) => {
  const member = await registerKeyed(service);
  await join(service, owner.orgId, member, "admin");
  const set = [memberHolder(member, "manage")];
  const [entry, stale] = [await signNext(service, owner, res, { set }), await signNext(service, owner, res, { set })];
  t.equal((await append(service, member, res, entry)).status, 403, "another person's entry");
  t.equal((await append(service, owner, res, entry)).status, 201);
  t.equal((await append(service, owner, res, stale)).status, 409);
  const another = await registerSigner(service);
  t.equal(
    (await append(service, owner, res, await signNext(service, another, orgRes(another.orgId), { set }))).status,
    400,
  );
  const forged = await signNext(service, { ...owner, privateKey: owner.privateKey }, res, { set });
  const broken = forged.slice(0, -8) + "AAAAAAAA";
  t.equal((await append(service, owner, res, broken)).status, 400, "not signed with the signer's key");
});

await t.test("of two entries at once one is stored", async (t) => {
  const member = await joinSigned(service, owner, "admin");
  const set = [memberHolder(member, "manage")];
  const entries = await Promise.all([0, 1, 2, 3].map(() => signNext(service, owner, res, { set })));
  const answers = await Promise.all(entries.map((entry) => append(service, owner, res, entry)));
  t.strictSame(answers.map(({ status }) => status).sort(), [201, 409, 409, 409]);
});

await t.test("a removed member is dropped with a cut; one who is a member is not", async (t) => {
  const member = await joinSigned(service, owner);
  const drop = [`user:${member.userId}`];
  const dropped = async (cut?: Record<string, [number, string]>) =>
    append(service, owner, res, await signNext(service, owner, res, { drop, ...(cut ? { cut } : {}) }));
  t.equal((await dropped()).status, 400);
  const path = `/api/org/members/${member.userId}`;
  t.equal((await call(service, "DELETE", `${path}?force=true`, { token: owner.token })).status, 204);
  const cut: Record<string, [number, string]> = { ["ab".repeat(32)]: [3, "cd".repeat(32)] };
  t.equal((await dropped(cut)).status, 201);
  t.match((await stateOf(service, owner, res))?.former.at(-1), { who: drop[0], cut });
});

await t.test("an organization names 20,000 entries of former members, and no more", async (t) => {
  const founder = await registerSigner(service);
  const own = orgRes(founder.orgId);
  const [former, leaving] = [await joinSigned(service, founder), await joinSigned(service, founder)];
  const remove = (userId: string) =>
    call(service, "DELETE", `/api/org/members/${userId}?force=true`, { token: founder.token });
  let names = 0;
  const cutOf = (length: number): Record<string, [number, string]> =>
    Object.fromEntries(
      Array.from({ length }, () => [(names += 1).toString(16).padStart(64, "0"), [1, "cd".repeat(32)]] as const),
    ) as Record<string, [number, string]>; // names and entries
  const state = async (userId: string, cut: Record<string, [number, string]>) =>
    append(service, founder, own, await signNext(service, founder, own, { drop: [`user:${userId}`], cut }));
  await remove(former.userId);
  t.equal((await state(former.userId, cutOf(1))).status, 201);
  // What eighty entries would have said.
  await execute(
    service,
    `UPDATE auth_sm.histories SET state = jsonb_set(state, '{former,0,cut}', (
       SELECT jsonb_object_agg('00' || lpad(n::text, 62, '0'), '[1, "00"]'::jsonb) FROM generate_series(1, 19999) AS n))
     WHERE res = $1`,
    [own],
  );
  names = 2 ** 40;
  const refused = await state(former.userId, cutOf(2));
  t.match([refused.status, refused.body], [400, { error: "invalid_request", message: /20000 entries/ }]);
  t.equal((await state(former.userId, cutOf(1))).status, 201, "the last one");
  t.equal((await state(former.userId, cutOf(1))).status, 400, "one more");
  await remove(leaving.userId);
  t.equal((await state(leaving.userId, cutOf(2))).status, 201, "a removal is always signed");
  t.equal((await state(leaving.userId, cutOf(1))).status, 400);
});

await t.test("a history is read in pages", async (t) => {
  const all = await call(service, "GET", "/api/org/history", { token: owner.token });
  const seq = all.body.history_seq ?? 0;
  t.equal(all.body.data.length, seq + 1);
  const rest = await call(service, "GET", `/api/org/history?after=${seq - 2}`, { token: owner.token });
  t.strictSame(rest.body.data, all.body.data.slice(-2));
  t.strictSame((await call(service, "GET", `/api/org/history?after=${seq}`, { token: owner.token })).body.data, []);
  const big = "x".repeat(600 * 1024);
  await execute(service, "UPDATE auth_sm.history_entries SET entry = $2 WHERE res = $1 AND seq < 3", [res, big]);
  const read = await call(service, "GET", "/api/org/history", { token: owner.token });
  t.equal(read.body.data.length, 1, "no more than a mebibyte, but one");
});
