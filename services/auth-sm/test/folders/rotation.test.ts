import t from "tap";
import { call } from "../support/call.ts";
import {
  ask,
  createFolder,
  createMachine,
  createSecret,
  createToken,
  newKeyPair,
  secretBody,
} from "../support/machines.ts";
import { execute, join, share, startCompany } from "../support/members.ts";
import { register, sealed } from "../support/people.ts";
import { jwe, rotate, type RotationBody, rotationOf } from "../support/rotation.ts";
import { startAuthSm } from "../support/service.ts";

const service = await startAuthSm(t);
const { owner, admin, auditor, member, suspended, stranger, orgId } = await startCompany(service);

/** A folder with two secrets, a machine and two people. */
async function filled() {
  const id = await createFolder(service, owner);
  await share(service, id, member, "write");
  const machine = await createMachine(service, owner, [{ folder_id: id, permission: "write" }]);
  const whole = { title: "t", title_encrypted: sealed(), fields: { password: sealed(), "user name": sealed() } };
  const uids = [await createSecret(service, machine, id, whole), await createSecret(service, machine, id)] as const;
  return { id, machine, uids };
}

/** Everything that a rotation may change. */
async function stateOf(folderId: string): Promise<string> {
  const tables = [
    "SELECT * FROM auth_sm.folders WHERE id = $1",
    "SELECT * FROM auth_sm.folder_members WHERE folder_id = $1 ORDER BY user_id",
    "SELECT * FROM auth_sm.client_folders WHERE folder_id = $1 ORDER BY client_id",
    "SELECT * FROM auth_sm.access_token_folders WHERE folder_id = $1 ORDER BY token_id",
    "SELECT * FROM auth_sm.secrets WHERE folder_id = $1 ORDER BY uid",
  ];
  return JSON.stringify(await Promise.all(tables.map((text) => execute(service, text, [folderId]))));
}

await t.test("a rotation gives a folder its next key, for every holder and every secret", async (t) => {
  const { id, machine, uids } = await filled();
  const before = await Promise.all(uids.map((uid) => ask(service, machine, "GET", `/secrets/${uid}`)));
  const body = await rotationOf(service, owner, id);
  const own = sealed();
  body.encrypted_keys.users = body.encrypted_keys.users.map((entry) =>
    entry.user_id === owner.userId ? { ...entry, encrypted_key: own } : entry,
  );
  const answer = await rotate(service, owner, id, body);
  t.equal(answer.status, 200);
  t.match(answer.body, { id, permission: "manage", key_version: 2, encrypted_key: own, encrypted_key_alg: "box-user" });
  t.ok(answer.body.updated_at > answer.body.created_at);
  const listed = await call(service, "GET", "/api/org/folders", { token: owner.token });
  t.strictSame(
    listed.body.data.find((folder) => folder.id === id),
    answer.body,
  );
  const others = await call(service, "GET", "/api/org/folders", { token: member.token });
  t.match(
    others.body.data.find((folder) => folder.id === id),
    { key_version: 2, encrypted_key: jwe, encrypted_key_alg: "jwe" },
  );
  t.match((await ask(service, machine, "GET", "/folders")).body.data, [
    { id, permission: "write", key_version: 2, encrypted_key: jwe, encrypted_key_alg: "jwe" },
  ]);
  for (const [index, uid] of uids.entries()) {
    const sent = body.secrets.find((secret) => secret.uid === uid);
    const { body: old } = before[index] ?? answer;
    const { body: now } = await ask(service, machine, "GET", `/secrets/${uid}`);
    t.match(now, {
      wrapped_dek: sent?.wrapped_dek,
      title_encrypted: sent?.title_encrypted ?? "",
      key_version: 2,
      version: 2,
    });
    t.ok(now.updated_at > old.updated_at);
    for (const same of ["data_encrypted", "title", "record_type", "created_at", "folder_id"] as const)
      t.equal(now[same], old[same]);
    t.strictSame(now.field_names, old.field_names);
    for (const [name, value] of Object.entries(sent?.fields ?? {})) {
      const field = await ask(service, machine, "GET", `/secrets/${uid}/fields/${encodeURIComponent(name)}`);
      t.match(field.body, { value_encrypted: value, wrapped_dek: sent?.wrapped_dek, key_version: 2 });
    }
  }
  const record = await service.observer.record(
    "the rotation",
    ({ action, target }) => action === "folder.key.rotated" && target.id === id,
  );
  t.match(record, {
    org_id: orgId,
    outcome: "success",
    actor: { id: owner.userId },
    target: { type: "folder", parent_id: orgId },
    changes: { key_version: 2, users: 2, clients: 1 },
    count: 2,
  });
  t.equal((await rotate(service, owner, id, await rotationOf(service, owner, id))).body.key_version, 3, "and again");
});

await t.test("a rotation that does not match the current folder is 409, and changes nothing", async (t) => {
  const { id, machine } = await filled();
  await createToken(service, owner, [{ folder_id: id, permission: "read", encrypted_folder_key: sealed() }]);
  const other = await createMachine(service, owner, []);
  const good = await rotationOf(service, owner, id);
  const { users, clients } = good.encrypted_keys;
  const [first, ...rest] = good.secrets;
  if (first === undefined) throw new Error("there are no secrets");
  const withKeys = (keys: Partial<RotationBody["encrypted_keys"]>) => ({ encrypted_keys: { users, clients, ...keys } });
  const wrong: Record<string, Partial<RotationBody>> = {
    "an older key": { key_version: 2 },
    "a secret less": { secrets: rest },
    "no secret": { secrets: [] },
    "a secret more": { secrets: [...good.secrets, { ...first, uid: "A".repeat(22) }] },
    "another secret instead": { secrets: [{ ...first, uid: "A".repeat(22) }, ...rest] },
    "a secret's next version": { secrets: [{ ...first, version: first.version + 1 }, ...rest] },
    "a person less": withKeys({ users: users.slice(1) }),
    "a person more": withKeys({ users: [...users, { user_id: admin.userId, encrypted_key: jwe }] }),
    "a stranger instead": withKeys({ users: [...users.slice(1), { user_id: stranger.userId, encrypted_key: jwe }] }),
    "a machine less": withKeys({ clients: [] }),
    "a machine more": withKeys({ clients: [...clients, { client_id: other.clientId, encrypted_key: jwe }] }),
  };
  const before = await stateOf(id);
  for (const [what, change] of Object.entries(wrong)) {
    const answer = await rotate(service, owner, id, { ...good, ...change });
    t.equal(answer.status, 409, what);
    t.equal(answer.body.error, "conflict");
  }
  await ask(service, machine, "PUT", `/secrets/${first.uid}`, { body: secretBody(id, { key_version: 1 }) });
  const changed = await stateOf(id);
  t.not(changed, before);
  t.equal((await rotate(service, owner, id, good)).status, 409, "a secret that has changed since");
  t.equal(await stateOf(id), changed);
  t.equal((await rotate(service, owner, id, await rotationOf(service, owner, id))).status, 200);
});

await t.test("malformed, incomplete or too large rotations are refused, and change nothing", async (t) => {
  const { id, uids } = await filled();
  const good = await rotationOf(service, owner, id);
  const titled = good.secrets.findIndex(({ uid }) => uid === uids[0]);
  const with_ = (index: number, change: object) => ({
    secrets: good.secrets.map((secret, at) => (at === index ? { ...secret, ...change } : secret)),
  });
  const keysWith = (change: object) => ({ encrypted_keys: { ...good.encrypted_keys, ...change } });
  const [someone] = good.encrypted_keys.users;
  const wrong = [
    { key_version: undefined },
    { encrypted_keys: undefined },
    { secrets: undefined },
    { secrets: {} },
    { secrets: [...good.secrets, good.secrets[0]] },
    keysWith({ users: undefined }),
    keysWith({ users: [...good.encrypted_keys.users, someone] }),
    keysWith({ users: good.encrypted_keys.users.map((entry) => ({ ...entry, encrypted_key: sealed() })) }),
    keysWith({ clients: good.encrypted_keys.clients.map((entry) => ({ ...entry, encrypted_key: sealed() })) }),
    with_(titled, { title_encrypted: undefined }),
    with_(titled, { fields: undefined }),
    with_(titled, { fields: { password: sealed() } }),
    with_(titled, { fields: { ...good.secrets[titled]?.fields, more: sealed() } }),
    with_(titled, { fields: { password: sealed(), username: sealed() } }),
    with_(1 - titled, { title_encrypted: sealed() }),
    with_(1 - titled, { fields: { password: sealed() } }),
    with_(0, { wrapped_dek: "" }),
    with_(0, { version: 0 }),
    with_(0, { uid: "x" }),
  ];
  const before = await stateOf(id);
  for (const [index, change] of wrong.entries()) {
    const answer = await rotate(service, owner, id, { ...good, ...change });
    t.equal(answer.status, 400, String(index));
    t.equal(answer.body.error, "invalid_request");
  }
  const long = sealed(48 * 1024 + 1);
  const longKey = sealed(3 * 1024 + 1);
  for (const change of [
    with_(0, { wrapped_dek: long }),
    keysWith({ users: [{ ...someone, encrypted_key: longKey }] }),
    keysWith({ users: [{ ...someone, encrypted_key: "a.b.c.d.".padEnd(4 * 1024 + 1, "A") }] }),
  ]) {
    t.equal((await rotate(service, owner, id, { ...good, ...change })).status, 413);
  }
  t.equal(await stateOf(id), before);
  t.equal(
    (await rotate(service, owner, id, { ...good, ...with_(1 - titled, { fields: {} }) })).status,
    200,
    "no fields are none",
  );
});

await t.test("only a person with the key and manage rotates, in any role", async (t) => {
  const { id } = await filled();
  const body = await rotationOf(service, owner, id);
  for (const person of [admin, auditor, member, suspended]) {
    const answer = await rotate(service, person, id, body);
    t.equal(answer.status, 403);
    t.equal(answer.body.error, "access_denied");
  }
  t.equal((await rotate(service, stranger, id, body)).status, 404);
  t.equal((await rotate(service, owner, "x", body)).status, 404);
  await share(service, id, auditor, "manage");
  t.equal((await rotate(service, auditor, id, body)).status, 403, "an auditor");
  await share(service, id, member, "manage");
  t.equal((await rotate(service, member, id, body)).status, 200);
});

await t.test("unused tokens lose the folder's key, and bootstrap without it", async (t) => {
  const { id } = await filled();
  const other = await createFolder(service, owner);
  const keys = { [id]: sealed(), [other]: sealed() };
  const grants = [id, other].map((folder_id) => ({
    folder_id,
    permission: "read" as const,
    encrypted_folder_key: keys[folder_id] ?? "",
  }));
  const { token } = await createToken(service, owner, grants);
  t.equal((await rotate(service, owner, id, await rotationOf(service, owner, id))).status, 200);
  const body = { token, public_key: newKeyPair().spki };
  const answer = await call(service, "POST", "/api/sm/v1/bootstrap", { body });
  t.equal(answer.status, 200);
  t.strictSame(answer.body.encrypted_folder_keys, { [other]: keys[other] });
  t.strictSame(answer.body.folders.map((folder) => folder.id).sort(), [id, other].sort());
});

await t.test("an unused grant has no key: a returning member gets the current one", async (t) => {
  const { id, machine } = await filled();
  const [resting, gone] = [
    await register(service),
    await createMachine(service, owner, [{ folder_id: id, permission: "read", encrypted_folder_key: sealed() }]),
  ];
  await join(service, orgId, resting, "member", "suspended");
  await share(service, id, resting, "read");
  await execute(service, "UPDATE auth_sm.clients SET revoked_at = now() WHERE id = $1", [gone.clientId]);
  t.equal((await rotate(service, owner, id, await rotationOf(service, owner, id))).status, 200);
  const kept = await execute(service, "SELECT encrypted_key FROM auth_sm.client_folders WHERE client_id = $1", [
    gone.clientId,
  ]);
  t.strictSame(kept, [{ encrypted_key: null }]);
  await join(service, orgId, resting, "member");
  const seen = async () =>
    (await call(service, "GET", "/api/org/folders", { token: resting.token })).body.data.find(
      (folder) => folder.id === id,
    );
  t.match(await seen(), { permission: "read", key_version: 2, encrypted_key: null, encrypted_key_alg: null });
  t.equal((await rotate(service, owner, id, await rotationOf(service, owner, id))).status, 200);
  t.match(await seen(), { key_version: 3, encrypted_key: jwe });
  t.equal((await ask(service, machine, "GET", "/secrets")).status, 200);
});
