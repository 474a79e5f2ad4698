import { randomUUID } from "node:crypto";
import { heldVaultHeads, soleManagedVaults } from "@coffer/events";
import { cutName, extendAll } from "@coffer/history";
import t from "tap";
import { call } from "../support/call.ts";
import { check, entryOf, holder, newSignedVault, newSigner } from "../support/histories.ts";
import { startVaults } from "../support/service.ts";
import { expected, jwe, newVault, sealed, share } from "../support/vaults.ts";

const service = await startVaults(t);
const { people, listeners } = service;
const invalid = { status: 400, body: { error: "invalid_request" } };
const conflict = { status: 409, body: { error: "conflict" } };

async function company() {
  const orgId = randomUUID();
  const [owner, member] = [await newSigner(service, orgId, "owner"), await newSigner(service, orgId)];
  return { orgId, owner, member };
}

await t.test("a shared vault is made with the first entry of its history", async (t) => {
  const { orgId, owner, member } = await company();
  const { vault, path, state } = await newSignedVault(service, orgId, owner);
  t.match(vault, { history_seq: 0, sealed_pin: null });
  const page = (await call(service, owner, "GET", `${path}/history`)).body as unknown as {
    data: string[];
    history_seq: number;
  };
  t.equal(page.history_seq, 0);
  t.strictSame((await extendAll(null, state.res, page.data)).state, state);
  t.match(await call(service, owner, "GET", `${path}/history?after=0`), { body: { data: [], history_seq: 0 } });
  t.match(await call(service, member, "GET", `${path}/history`), { status: 403 });
  t.match(await call(service, owner, "GET", `${path}/history?after=-1`), invalid);

  const without = await newVault(service, owner);
  t.equal(without.history_seq, null);
  t.match(await call(service, owner, "GET", `/api/vaults/${without.id}/history`), {
    body: { data: [], history_seq: null },
  });
});

await t.test("the first entry must match the request", async (t) => {
  const { orgId, owner, member } = await company();
  const good = { name: "Vault", org: orgId, ver: 1, check, set: [holder(owner, "manage")] };
  const refused = async (why: string, change: object, type = "shared"): Promise<void> => {
    const id = randomUUID();
    const { text } = await entryOf(null, id, owner, { ...good, ...change });
    const body = { id, name: "Vault", type, encrypted_key: sealed(), entry: text };
    t.match(await call(service, owner, "POST", "/api/vaults", { body }), invalid, why);
    t.match(await call(service, owner, "GET", `/api/vaults/${id}`), { status: 404 }, "nothing is made");
  };
  await refused("another name", { name: "Other" });
  await refused("another organization", { org: randomUUID() });
  await refused("another version", { ver: 2 });
  await refused("another holder", { set: [...good.set, holder(member, "read")] });
  await refused("a personal vault", {}, "personal");
  const id = randomUUID();
  const { text } = await entryOf(null, id, member, { ...good, set: [holder(member, "manage")] });
  const body = { id, name: "Vault", type: "shared", encrypted_key: sealed(), entry: text };
  t.match(await call(service, owner, "POST", "/api/vaults", { body }), { status: 403 }, "signed by another person");
});

await t.test("a vault with a history changes only with an entry", async (t) => {
  const { orgId, owner, member } = await company();
  const { path, state } = await newSignedVault(service, orgId, owner);
  const vaultId = state.res.slice("vault:".length);
  const at = `${path}/members/${member.userId}`;
  const body = { permission: "write", encrypted_key: jwe };
  t.match(await call(service, owner, "PUT", at, { body }), invalid, "without an entry");
  t.match(await call(service, owner, "PATCH", path, { body: { name: "Other" } }), invalid, "without an entry");

  const shared = await entryOf(state, vaultId, owner, { set: [holder(member, "write")] });
  const wrong = await entryOf(state, vaultId, owner, { set: [holder(member, "read")] });
  t.match(
    await call(service, owner, "PUT", at, { body: { ...body, entry: wrong.text } }),
    invalid,
    "another permission",
  );
  const named = await entryOf(state, vaultId, owner, { set: [holder(member, "write")], name: "Other" });
  t.match(await call(service, owner, "PUT", at, { body: { ...body, entry: named.text } }), invalid, "a name besides");
  const damaged = `${shared.text.slice(0, -8)}AAAAAAAA`;
  t.match(await call(service, owner, "PUT", at, { body: { ...body, entry: damaged } }), invalid, "a wrong signature");
  t.match(await call(service, owner, "PUT", at, { body: { ...body, entry: shared.text } }), { status: 200 });
  t.match(await call(service, owner, "PUT", at, { body: { ...body, entry: shared.text } }), conflict, "twice");
  t.match(await call(service, owner, "PUT", at, { body }), { status: 200 }, "a key alone is sealed without an entry");
  t.match(await call(service, owner, "PATCH", path, { body: { safe_for_travel: true } }), { status: 200 }, "no name");

  const renamed = await entryOf(shared.state, vaultId, owner, { name: "Other" });
  t.match(await call(service, owner, "PATCH", path, { body: { name: "Third", entry: renamed.text } }), invalid);
  const answer = await call(service, owner, "PATCH", path, { body: { name: "Other", entry: renamed.text } });
  t.match(answer, { status: 200, body: { name: "Other", history_seq: 2 } });
  const stale = await entryOf(shared.state, vaultId, owner, { name: "Stale" });
  t.match(await call(service, owner, "PATCH", path, { body: { name: "Stale", entry: stale.text } }), conflict);
  const byMember = await call(service, member, "PATCH", path, { body: { name: "Mine", entry: stale.text } });
  t.match(byMember, { status: 403 });

  const again = await entryOf(renamed.state, vaultId, owner, { set: [holder(member, "write")] });
  t.match(await call(service, owner, "PUT", at, { body: { ...body, entry: again.text } }), { status: 200 });
  t.match(
    await listeners.record(
      "the record",
      ({ action, target }) => action === "history.trusted" && target.parent_id === vaultId,
    ),
    {
      target: { type: "user", id: member.userId },
    },
  );
});

await t.test("a list changes with the history", async (t) => {
  const { orgId, owner, member } = await company();
  const { path, state } = await newSignedVault(service, orgId, owner);
  const vaultId = state.res.slice("vault:".length);
  const { headers } = await call(service, owner, "GET", "/api/vaults");
  const { text } = await entryOf(state, vaultId, owner, { set: [holder(member, "read")] });
  const at = `${path}/members/${member.userId}`;
  expected(
    await call(service, owner, "PUT", at, { body: { permission: "read", encrypted_key: jwe, entry: text } }),
    200,
  );
  const etag = headers.get("etag") ?? "";
  const after = await call(service, owner, "GET", "/api/vaults", { headers: { "if-none-match": etag } });
  t.match(after, { status: 200, body: { data: [{ history_seq: 1 }] } });
  const pinned = { version: 1, sealed: sealed() };
  t.match(await call(service, owner, "PUT", `${path}/pin`, { body: pinned }), { status: 200, body: pinned });
  const tag = after.headers.get("etag") ?? "";
  const last = await call(service, owner, "GET", "/api/vaults", { headers: { "if-none-match": tag } });
  t.match(last, { status: 200, body: { data: [{ sealed_pin: pinned }] } });
});

await t.test("a vault without a history is adopted", async (t) => {
  const { orgId, owner, member } = await company();
  const vault = await newVault(service, owner);
  await share(service, owner, vault.id, member, "write");
  const path = `/api/vaults/${vault.id}`;
  const body = { permission: "read", encrypted_key: jwe };
  const early = await entryOf(null, vault.id, owner, {
    name: "Vault",
    org: orgId,
    ver: 1,
    check,
    set: [holder(owner, "manage")],
  });
  const at = `${path}/members/${member.userId}`;
  t.match(
    await call(service, owner, "PUT", at, { body: { ...body, entry: early.text } }),
    invalid,
    "no other way begins it",
  );
  const adopt = async (change: object) => {
    const good = { name: "Vault", org: orgId, ver: 1, check, set: [holder(owner, "manage"), holder(member, "write")] };
    const { text, state } = await entryOf(null, vault.id, owner, { ...good, ...change });
    return { answer: await call(service, owner, "POST", `${path}/history`, { body: { entry: text } }), state };
  };
  t.match((await adopt({ ver: 2 })).answer, invalid, "another version");
  t.match((await adopt({ name: "Other" })).answer, invalid, "another name");
  t.match(
    (await adopt({ set: [holder(owner, "manage"), holder(member, "manage")] })).answer,
    invalid,
    "another permission",
  );
  t.match(
    (await adopt({ set: [holder(owner, "manage"), holder(await newSigner(service, orgId), "read")] })).answer,
    invalid,
    "a stranger",
  );
  const { answer, state } = await adopt({});
  t.match(answer, { status: 201, body: { history_seq: 0, hash: state.head.hash } });
  t.match((await adopt({})).answer, conflict, "once");
  t.match(
    await listeners.record(
      "the record",
      ({ action, target }) => action === "history.adopted" && target.id === vault.id,
    ),
    {
      org_id: orgId,
    },
  );
  const own = await newVault(service, owner, { type: "personal" });
  const mine = await entryOf(null, own.id, owner, {
    name: "Vault",
    org: orgId,
    ver: 1,
    check,
    set: [holder(owner, "manage")],
  });
  t.match(await call(service, owner, "POST", `/api/vaults/${own.id}/history`, { body: { entry: mine.text } }), invalid);
});

await t.test("of two concurrent entries one is accepted, the other is a conflict", async (t) => {
  const { orgId, owner } = await company();
  const { path, state } = await newSignedVault(service, orgId, owner);
  const vaultId = state.res.slice("vault:".length);
  const names = await Promise.all(
    ["One", "Two"].map(async (name) => ({ name, entry: (await entryOf(state, vaultId, owner, { name })).text })),
  );
  const answers = await Promise.all(names.map((body) => call(service, owner, "PATCH", path, { body })));
  t.strictSame(answers.map(({ status }) => status).sort(), [200, 409]);
});

await t.test("auth-sm reads the histories that a removal cuts, and the vaults left without a manager", async (t) => {
  const { orgId, owner, member } = await company();
  const { state } = await newSignedVault(service, orgId, owner);
  const { path, state: second } = await newSignedVault(service, orgId, owner);
  const secondId = second.res.slice("vault:".length);
  const { text, state: shared } = await entryOf(second, secondId, owner, { set: [holder(member, "manage")] });
  const body = { permission: "manage", encrypted_key: jwe, entry: text };
  expected(await call(service, owner, "PUT", `${path}/members/${member.userId}`, { body }), 200);
  const input = { org_id: orgId, user_id: owner.userId };
  const { heads } = await people.bus.request(heldVaultHeads, input);
  t.strictSame(heads, {
    [await cutName(state.res)]: [0, state.head.hash],
    [await cutName(second.res)]: [1, shared.head.hash],
  });
  const { vaults } = await people.bus.request(soleManagedVaults, input);
  t.strictSame(vaults, [{ id: state.res.slice("vault:".length), name: "Vault" }]);
  await people.remove(member, orgId);
  const gone = await people.bus.request(heldVaultHeads, { org_id: orgId, user_id: member.userId });
  t.strictSame(Object.keys(gone.heads), [await cutName(second.res)], "also of a person who was removed");
  const { vaults: both } = await people.bus.request(soleManagedVaults, input);
  t.equal(both.length, 2, "a manager who left manages nothing");
});

await t.test("a pin has one version after another", async (t) => {
  const { orgId, owner } = await company();
  const { path } = await newSignedVault(service, orgId, owner);
  const put = (version: number, pin = sealed()) =>
    call(service, owner, "PUT", `${path}/pin`, { body: { version, sealed: pin } });
  const early = { status: 412, body: { error: "precondition_failed" } };
  t.match(await put(2), early);
  t.match(await put(1), { status: 200 });
  t.match(await put(1), early);
  t.match(await put(3), early);
  t.match(await put(2), { status: 200, body: { version: 2 } });
  t.match(await put(0), invalid);
  t.match(await put(3, "A".repeat(64 * 1024 + 4)), { status: 413 });
  const outsider = await newSigner(service, randomUUID());
  t.match(await call(service, outsider, "PUT", `${path}/pin`, { body: { version: 1, sealed: sealed() } }), {
    status: 404,
  });
});
