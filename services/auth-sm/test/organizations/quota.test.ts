import { randomUUID } from "node:crypto";
import t from "tap";
import { call } from "../support/call.ts";
import { ask, createFolder, createMachine, secretBody } from "../support/machines.ts";
import { insertSecrets } from "../support/many-secrets.ts";
import { execute, orgOf } from "../support/members.ts";
import { register } from "../support/people.ts";
import { rotate, rotationOf } from "../support/rotation.ts";
import { startAuthSm } from "../support/service.ts";

const service = await startAuthSm(t, { COFFER_QUOTA_SECRETS: "20", COFFER_QUOTA_MIB: "1" });
const mebibyte = 1024 * 1024;
const exceeded = { status: 403, body: { error: "quota_exceeded" } };

/** An organization with a machine that may write to its folder. */
async function company() {
  const owner = await register(service, { orgName: "Example" });
  const folder = await createFolder(service, owner, "production");
  const machine = await createMachine(service, owner, [{ folder_id: folder, permission: "write" }]);
  const orgId = await orgOf(service, owner);
  const create = (more: object = {}) => ask(service, machine, "POST", "/secrets", { body: secretBody(folder, more) });
  return { owner, folder, machine, orgId, create };
}

/** What is counted, and what there is. */
async function usageOf(orgId: string) {
  const text = `
    SELECT (SELECT sum(items) FROM auth_sm.usage WHERE owner = $1)::integer AS items,
      (SELECT sum(bytes) FROM auth_sm.usage WHERE owner = $1)::integer AS bytes,
      count(*)::integer AS secrets,
      sum(length(encrypted_payload) + length(wrapped_dek) + length(title_encrypted) + length(fields::text))::integer
        AS stored
    FROM auth_sm.secrets WHERE org_id = $1`;
  const [row] = await execute(service, text, [orgId]);
  return row as { items: number; bytes: number; secrets: number; stored: number | null };
}

/** Ciphertext of so many characters. */
const ciphertext = (length: number): string => "QUJD".repeat(length / 4);

await t.test("the quota's last secret is created, and the next is refused", async (t) => {
  const { owner, folder, orgId, create } = await company();
  await insertSecrets(service, { owner, folder, count: 19 });
  t.match(await create(), { status: 201 });
  t.match(await create(), {
    ...exceeded,
    body: { message: "the organization has the 20 secrets that its quota allows: delete some first" },
  });
  t.match(await usageOf(orgId), { items: 20, secrets: 20 });
  const record = await service.observer.record("secret.created", ({ org_id, outcome }) => {
    return org_id === orgId && outcome === "denied";
  });
  t.match(record, { reason: "quota_exceeded" });
});

await t.test("a deletion frees one secret of the quota, and a person's writes count like a machine's", async (t) => {
  const { owner, folder, machine, create } = await company();
  const [first] = await insertSecrets(service, { owner, folder, count: 20 });
  const path = `/api/org/folders/${folder}/secrets`;
  const asPerson = () => call(service, "POST", path, { token: owner.token, body: secretBody(folder) });
  t.match(await asPerson(), exceeded);
  t.match(await ask(service, machine, "DELETE", `/secrets/${first}`), { status: 204 });
  t.match(await asPerson(), { status: 201 });
  t.match(await create(), exceeded);
});

await t.test("secrets that are created concurrently fill the quota and never exceed it", async (t) => {
  const { folder, machine, orgId } = await company();
  const other = await service.replica();
  const answers = await Promise.all(
    Array.from({ length: 60 }, (_, n) =>
      ask(n % 2 === 0 ? service : other, machine, "POST", "/secrets", { body: secretBody(folder) }),
    ),
  );
  const statuses = answers.map(({ status }) => status);
  t.equal(statuses.filter((status) => status === 201).length, 20);
  t.equal(statuses.filter((status) => status === 403).length, 40);
  t.match(await usageOf(orgId), { items: 20, secrets: 20 });
});

await t.test("another organization's quota is its own", async (t) => {
  const full = await company();
  await insertSecrets(service, { owner: full.owner, folder: full.folder, count: 20 });
  const { create } = await company();
  const [refused, created] = await Promise.all([full.create(), create()]);
  t.match(refused, exceeded);
  t.match(created, { status: 201 });
});

await t.test("ciphertext is counted as it is stored, up to the last byte", async (t) => {
  const { machine, orgId, create } = await company();
  const part = { encrypted_payload: ciphertext(256 * 1024), wrapped_dek: ciphertext(4), fields: {} };
  for (let n = 0; n < 3; n += 1) t.match(await create(part), { status: 201 });
  const { bytes, stored } = await usageOf(orgId);
  t.equal(bytes, stored);
  // The fourth has its wrapped key, and `{}` for its fields.
  const rest = mebibyte - bytes - 4 - 2;
  const title_encrypted = ciphertext(4);
  const length = rest - (rest % 4);
  t.match(await create({ ...part, encrypted_payload: ciphertext(length), title_encrypted }), exceeded);
  const last = await create({ ...part, encrypted_payload: ciphertext(length) });
  t.match(last, { status: 201 });
  t.ok(mebibyte - (await usageOf(orgId)).bytes < 4);

  const update = (more: object) =>
    ask(service, machine, "PUT", `/secrets/${last.body.uid}`, {
      body: { encrypted_payload: ciphertext(length), wrapped_dek: ciphertext(4), ...more },
    });
  t.match(await update({ fields: { password: ciphertext(4) } }), exceeded, "an update that grows");
  t.match(await update({}), { status: 200 }, "an update that does not");
  t.match(await update({ encrypted_payload: ciphertext(4) }), { status: 200 }, "an update that shrinks");
  t.match(await create({ wrapped_dek: ciphertext(4) }), { status: 201 }, "and makes room");
  const after = await usageOf(orgId);
  t.equal(after.bytes, after.stored);
});

await t.test("a rotation is counted by its sealed size, and refused over the quota", async (t) => {
  const { owner, folder, orgId, create } = await company();
  const payload = { encrypted_payload: ciphertext(256 * 1024) };
  for (let n = 0; n < 3; n += 1) t.match(await create(payload), { status: 201 });
  t.match(await create({ fields: { password: ciphertext(64) }, title_encrypted: ciphertext(64) }), { status: 201 });
  const body = await rotationOf(service, owner, folder);
  t.match(await rotate(service, owner, folder, body), { status: 200 });
  const rotated = await usageOf(orgId);
  t.equal(rotated.bytes, rotated.stored);

  const again = await rotationOf(service, owner, folder);
  const grown = again.secrets.map((each) => ({ ...each, wrapped_dek: ciphertext(48 * 1024) }));
  t.match(await rotate(service, owner, folder, { ...again, secrets: grown }), { status: 200 }, "within the quota");
  const third = await rotationOf(service, owner, folder);
  const over = third.secrets.map((each) => ({
    ...each,
    wrapped_dek: ciphertext(64 * 1024),
    ...(each.fields === undefined ? {} : { fields: { password: ciphertext(64 * 1024) } }),
  }));
  t.match(await rotate(service, owner, folder, { ...third, secrets: over }), exceeded, "over it");
  const unchanged = await usageOf(orgId);
  t.equal(unchanged.bytes, unchanged.stored);
});

await t.test("a staged rotation counts its payloads, and staged data has a separate quota", async (t) => {
  const { owner, folder, orgId, create } = await company();
  for (let n = 0; n < 3; n += 1) {
    t.match(await create({ encrypted_payload: ciphertext(100 * 1024), title_encrypted: ciphertext(64) }), {
      status: 201,
    });
  }
  const { secrets, ...rotation } = await rotationOf(service, owner, folder);
  const rotation_id = randomUUID();
  const stage = (length: number) => {
    const body = { secrets: secrets.map((each) => ({ ...each, encrypted_payload: ciphertext(length) })) };
    return call(service, "PUT", `/api/org/folders/${folder}/rotation/${rotation_id}`, { token: owner.token, body });
  };
  const stagedBytes = async () => {
    const text =
      "SELECT coalesce(sum(bytes), 0)::integer AS bytes FROM auth_sm.usage WHERE owner = $1 AND kind = 'staged'";
    return (await execute(service, text, [owner.userId]))[0] as { bytes: number };
  };
  t.match(await stage(200 * 1024), { status: 200 });
  const before = await usageOf(orgId);
  t.equal(before.bytes, before.stored, "what is staged is not the organization's");
  t.ok((await stagedBytes()).bytes > 3 * 200 * 1024);
  const large = secrets.map((each) => ({
    ...each,
    title_encrypted: ciphertext(64 * 1024),
    wrapped_dek: ciphertext(64 * 1024),
  }));
  const body = { secrets: large.map((each) => ({ ...each, encrypted_payload: ciphertext(256 * 1024) })) };
  const path = `/api/org/folders/${folder}/rotation/${rotation_id}`;
  t.match(
    await call(service, "PUT", path, { token: owner.token, body }),
    exceeded,
    "also where it replaces what was staged",
  );
  t.match(await rotate(service, owner, folder, { ...rotation, rotation_id }), { status: 200 });
  const after = await usageOf(orgId);
  t.equal(after.bytes, after.stored);
  t.ok(after.bytes > 3 * 200 * 1024);
  t.strictSame(await stagedBytes(), { bytes: 0 });
});

await t.test("the deletion of a folder frees the quota of its secrets", async (t) => {
  const { owner, folder, orgId } = await company();
  await insertSecrets(service, { owner, folder, count: 20 });
  const gone = await call(service, "DELETE", `/api/org/folders/${folder}?force=true`, { token: owner.token });
  t.match(gone, { status: 204 });
  t.match(await usageOf(orgId), { items: 0, bytes: 0 });
});

await t.test(
  "an organization over a lowered quota may delete and shrink, and create once it is within it",
  async (t) => {
    const { owner, folder, machine, orgId, create } = await company();
    const uids = await insertSecrets(service, { owner, folder, count: 20 });
    const lowered = await service.replica({ COFFER_QUOTA_SECRETS: "10" });
    const createThere = () => ask(lowered, machine, "POST", "/secrets", { body: secretBody(folder) });
    for (const uid of uids.slice(0, 10)) {
      t.match(await createThere(), exceeded);
      t.match(await ask(lowered, machine, "DELETE", `/secrets/${uid}`), { status: 204 });
    }
    t.match(await createThere(), exceeded, "exactly at it");
    t.match(await ask(lowered, machine, "DELETE", `/secrets/${uids[10]}`), { status: 204 });
    t.match(await createThere(), { status: 201 });
    t.match(await createThere(), exceeded);
    t.match(await create(), { status: 201 }, "where the quota is larger");
    t.match(await usageOf(orgId), { items: 11, secrets: 11 });
  },
);

await t.test("writes that a quota refused are in the metrics", async (t) => {
  const { owner, folder, machine } = await company();
  await insertSecrets(service, { owner, folder, count: 20 });
  const replica = await service.replica();
  t.match(await ask(replica, machine, "POST", "/secrets", { body: secretBody(folder) }), exceeded);
  t.match(await replica.metrics(), /^coffer_quota_refusals_total\{[^}]*kind="secrets",limit="items"[^}]*\} 1$/m);
});
