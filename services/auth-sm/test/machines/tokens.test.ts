import { createHash, randomBytes } from "node:crypto";
import t from "tap";
import { call } from "../support/call.ts";
import { createApplication, createFolder, createMachine, createToken, newKeyPair } from "../support/machines.ts";
import { execute, share, startCompany } from "../support/members.ts";
import { type Person, sealed } from "../support/people.ts";
import { startAuthSm } from "../support/service.ts";

const service = await startAuthSm(t);
const { clock } = service;
clock.stop();
const { owner, admin, auditor, member, suspended, stranger, orgId } = await startCompany(service);
const application = await createApplication(service, owner);
const folder = await createFolder(service, owner);
const hour = 60 * 60 * 1000;

const base = (applicationId: string): string => `/api/org/applications/${applicationId}/tokens`;
const hashOf = (token: string): string => createHash("sha256").update(token).digest("hex");
const issue = ({ token }: Person, body: object, applicationId = application) =>
  call(service, "POST", base(applicationId), { token, body: { name: "t", folders: [], ...body } });
const list = ({ token }: Person, applicationId = application) => call(service, "GET", base(applicationId), { token });
const revoke = ({ token }: Person, id: string, applicationId = application) =>
  call(service, "DELETE", `${base(applicationId)}/${id}`, { token });
const bootstrap = (token: string) =>
  call(service, "POST", "/api/sm/v1/bootstrap", { body: { token, public_key: newKeyPair().spki } });
const inTime = (milliseconds: number): string => new Date(clock.now().getTime() + milliseconds).toISOString();

await t.test("a token whose hash is given is never seen by the server", async (t) => {
  const token_hash = hashOf(randomBytes(32).toString("base64url"));
  const key = sealed();
  const folders = [{ folder_id: folder, permission: "read", encrypted_folder_key: key, key_version: 1 }];
  const answer = await issue(owner, {
    token_hash,
    folders,
    client_expires_at: inTime(hour),
    allowed_cidrs: ["10.0.0.0/8"],
  });
  t.equal(answer.status, 201);
  t.notOk("token" in answer.body);
  t.match(answer.body, {
    application_id: application,
    name: "t",
    status: "unused",
    expires_at: inTime(24 * hour).replace("Z", "000Z"),
    client_expires_at: inTime(hour).replace("Z", "000Z"),
    allowed_cidrs: ["10.0.0.0/8"],
    folders: [{ id: folder, permission: "read" }],
  });
  t.strictSame((await list(owner)).body.data.at(-1), answer.body);
  t.notOk(JSON.stringify((await list(owner)).body).includes(key), "no list shows a sealed key");
  const record = await service.observer.record("the token", ({ target }) => target.id === answer.body.id);
  t.match(record, {
    org_id: orgId,
    action: "token.issued",
    target: { type: "token", parent_id: application },
    changes: {
      folders: [folder],
      name: "t",
      expires_at: inTime(24 * hour).replace("Z", "000Z"),
      client_expires_at: inTime(hour).replace("Z", "000Z"),
    },
    request: { status: 201 },
  });
  t.notOk(JSON.stringify(record).includes(token_hash) || JSON.stringify(record).includes(key));
});

await t.test("without a hash the server makes the token and shows it once", async (t) => {
  const { status, body } = await issue(owner, { folders: [{ folder_id: folder, permission: "write" }] });
  t.equal(status, 201);
  t.match(body.token, /^[\w-]{43}$/);
  t.notOk(JSON.stringify((await list(owner)).body).includes(body.token));
  const spent = await bootstrap(body.token);
  t.equal(spent.status, 200, "it can be sent as it is");
  t.match(
    (await list(owner)).body.data.find(({ id }) => id === body.id),
    { status: "used" },
  );
});

await t.test("a token of a hash is spent with the token, and its keys are handed out", async (t) => {
  const key = sealed();
  const folders = [{ folder_id: folder, permission: "read" as const, encrypted_folder_key: key }];
  const { token } = await createToken(service, owner, folders);
  t.strictSame((await bootstrap(token)).body.encrypted_folder_keys, { [folder]: key });
});

await t.test("a hash that is taken is 409", async (t) => {
  const token_hash = hashOf("taken");
  t.equal((await issue(owner, { token_hash })).status, 201);
  const answer = await issue(owner, { token_hash });
  t.equal(answer.status, 409);
  t.equal(answer.body.error, "conflict");
});

await t.test("tokens are issued, listed and revoked by owners and admins; auditors see them", async (t) => {
  const { body } = await issue(admin, {});
  for (const person of [owner, admin, auditor]) t.equal((await list(person)).status, 200);
  for (const person of [member, suspended]) t.equal((await list(person)).status, 403);
  for (const person of [auditor, member, suspended]) {
    t.equal((await issue(person, {})).status, 403);
    t.equal((await revoke(person, body.id)).status, 403);
  }
  t.equal((await list(stranger)).status, 404);
  t.equal((await issue(stranger, {})).status, 404);
  t.equal((await revoke(stranger, body.id)).status, 404);
  t.equal((await bootstrap(body.token)).status, 200, "none of those callers could");
});

await t.test("the caller needs manage on every folder named, wherever it is", async (t) => {
  const [managed, unshared] = [await createFolder(service, admin), await createFolder(service, owner)];
  const foreign = await createFolder(service, stranger);
  const named = (...ids: string[]) => ({ folders: ids.map((folder_id) => ({ folder_id, permission: "read" })) });
  t.equal((await issue(admin, named(managed))).status, 201);
  for (const id of [unshared, foreign, "00000000-0000-7000-8000-000000000000"]) {
    const answer = await issue(admin, named(managed, id));
    t.equal(answer.status, 403, id);
    t.equal(answer.body.error, "access_denied");
  }
  await share(service, unshared, admin, "write");
  t.equal((await issue(admin, named(unshared))).status, 403, "write");
  await share(service, unshared, admin, "manage");
  t.equal((await issue(admin, named(unshared, managed))).status, 201, "manage");
  await share(service, unshared, member, "manage");
  t.equal((await issue(member, named(unshared))).status, 403, "a member issues no tokens");
});

await t.test("a folder of the caller's other organization is not named in this one", async (t) => {
  const { token } = owner;
  const other = await call(service, "POST", "/api/orgs", { token, body: { name: "Other" } });
  const body = { name: "there", encrypted_key: sealed() };
  const there = await call(service, "POST", "/api/org/folders", {
    token,
    body,
    headers: { "x-coffer-org": other.body.id },
  });
  t.equal(there.body.permission, "manage");
  const answer = await issue(owner, { folders: [{ folder_id: there.body.id, permission: "read" }] });
  t.equal(answer.status, 403);
  const machine = await createMachine(service, owner, []);
  const path = `/api/org/applications/${machine.applicationId}/clients/${machine.clientId}/folders/${there.body.id}`;
  const grant = { permission: "read", encrypted_key: "eyJh.a2V5.aXY.Y2lw.dGFn" };
  t.equal((await call(service, "PUT", path, { token, body: grant })).status, 404);
  t.equal((await call(service, "DELETE", path, { token })).status, 404);
});

await t.test("a refused token leaves nothing", async (t) => {
  const text = "SELECT count(*)::int AS count FROM auth_sm.access_tokens";
  const before = await execute(service, text);
  const unmanaged = await createFolder(service, stranger);
  await issue(owner, { folders: [{ folder_id: unmanaged, permission: "read" }] });
  await issue(owner, { folders: [{ folder_id: folder, permission: "read", key_version: 2 }] });
  t.strictSame(await execute(service, text), before);
});

await t.test("a revoked token cannot be spent, a spent one not revoked", async (t) => {
  const { body } = await issue(owner, {});
  t.equal((await revoke(admin, body.id)).status, 204);
  t.equal((await revoke(admin, body.id)).status, 204, "again: no effect");
  t.equal((await bootstrap(body.token)).status, 401);
  t.match(
    (await list(owner)).body.data.find(({ id }) => id === body.id),
    { status: "revoked" },
  );
  const record = await service.observer.record(
    "the revocation",
    ({ action, target }) => action === "token.revoked" && target.id === body.id,
  );
  t.match(record, { org_id: orgId, outcome: "success", target: { parent_id: application } });
  const spent = await issue(owner, {});
  await bootstrap(spent.body.token);
  t.equal((await revoke(owner, spent.body.id)).status, 409, "its client is to be revoked");
  const other = await createApplication(service, owner);
  for (const [id, applicationId] of [
    [body.id, other],
    ["x", application],
    [other, application],
  ] as const) {
    t.equal((await revoke(owner, id, applicationId)).status, 404);
  }
});

await t.test("a token that is spent and revoked at once is one of both", async (t) => {
  for (let round = 0; round < 10; round += 1) {
    const { body } = await issue(owner, {});
    const [spent, revoked] = await Promise.all([bootstrap(body.token), revoke(owner, body.id)]);
    t.match([spent.status, revoked.status], spent.status === 200 ? [200, 409] : [401, 204]);
  }
});

await t.test("an application that is deleted while a token of it is spent leaves no active machine", async (t) => {
  for (let round = 0; round < 5; round += 1) {
    const doomed = await createApplication(service, owner);
    const { body } = await issue(owner, {}, doomed);
    const path = `/api/org/applications/${doomed}`;
    const [spent, deleted] = await Promise.all([
      bootstrap(body.token),
      call(service, "DELETE", path, { token: owner.token }),
    ]);
    t.equal(deleted.status, 204);
    t.ok([200, 401].includes(spent.status), `bootstrap: ${spent.status}`);
    const rows = await execute(
      service,
      "SELECT FROM auth_sm.clients WHERE application_id IS NULL AND revoked_at IS NULL",
    );
    t.equal(rows.length, 0);
  }
  await createMachine(service, owner, []);
});
