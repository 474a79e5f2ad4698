import { randomBytes, randomUUID } from "node:crypto";
import t from "tap";
import { call } from "../support/call.ts";
import {
  ask,
  bearer,
  createFolder,
  createMachine,
  createToken,
  type Machine,
  newKeyPair,
} from "../support/machines.ts";
import { register, sealed } from "../support/people.ts";
import { startAuthSm } from "../support/service.ts";

const service = await startAuthSm(t, { COFFER_TRUSTED_PROXY_CIDRS: "127.0.0.1/32" });
const owner = await register(service, { orgName: "Example" });
const path = "/api/sm/v1/bootstrap";
const invalid = { error: "invalid_token" };

await t.test("a token is spent for an identity, its folders and their keys", async (t) => {
  const folderId = await createFolder(service, owner, "production");
  const key = sealed();
  const { token, applicationId } = await createToken(service, owner, [
    { folder_id: folderId, permission: "read", encrypted_folder_key: key },
  ]);
  const answer = await call(service, "POST", path, { body: { token, public_key: newKeyPair().spki } });
  t.equal(answer.status, 200);
  const { client_id, org_id, ...rest } = answer.body;
  t.match(client_id, /^[0-9a-f-]{36}$/);
  t.match(org_id, /^[0-9a-f-]{36}$/);
  t.strictSame(rest, {
    application_id: applicationId,
    encrypted_folder_keys: { [folderId]: key },
    folders: [{ id: folderId, name: "production", permission: "read" }],
  });
  const record = await service.observer.record("the bootstrap", ({ action, target }) => {
    return action === "client.bootstrapped" && target.id === client_id;
  });
  t.match(record, {
    outcome: "success",
    org_id,
    actor: { type: "client", id: client_id, application_id: applicationId },
  });
});

await t.test("a folder whose key was not sealed for the token has no entry among the keys", async (t) => {
  const folderId = await createFolder(service, owner);
  const { token } = await createToken(service, owner, [{ folder_id: folderId, permission: "write" }]);
  const { body } = await call(service, "POST", path, { body: { token, public_key: newKeyPair().spki } });
  t.strictSame(body.encrypted_folder_keys, {});
  t.match(body.folders, [{ id: folderId, permission: "write" }]);
});

await t.test("the key may be sent as the uncompressed point, and its owner is let in", async (t) => {
  const folderId = await createFolder(service, owner);
  const { token } = await createToken(service, owner, [{ folder_id: folderId, permission: "read" }]);
  const { key, point } = newKeyPair();
  const { body } = await call(service, "POST", path, { body: { token, public_key: point } });
  const machine: Machine = { clientId: body.client_id, applicationId: body.application_id, key };
  t.equal((await ask(service, machine, "GET", "/secrets")).status, 200);
});

await t.test("a used token is refused with 401, and its second use is in the audit", async (t) => {
  const { id, token } = await createToken(service, owner, []);
  await call(service, "POST", path, { body: { token, public_key: newKeyPair().spki } });
  const again = await call(service, "POST", path, { body: { token, public_key: newKeyPair().spki } });
  t.equal(again.status, 401);
  t.match(again.body, invalid);
  t.equal(again.headers.get("www-authenticate"), "Bearer");
  const record = await service.observer.record("the second use", ({ action, target }) => {
    return action === "client.bootstrap.failed" && target.id === id;
  });
  t.match(record, { outcome: "failure", reason: "used", actor: { type: "anonymous" }, request: { status: 401 } });
});

await t.test("a genuine token with a client_id that is taken is in the audit too, and stays unused", async (t) => {
  const { id, token } = await createToken(service, owner, []);
  const { clientId } = await createMachine(service, owner, []);
  const body = { token, public_key: newKeyPair().spki };
  t.equal((await call(service, "POST", path, { body: { ...body, client_id: clientId } })).status, 400);
  const record = await service.observer.record("the attempt", ({ action, target }) => {
    return action === "client.bootstrap.failed" && target.id === id;
  });
  t.match(record, { outcome: "failure", reason: "client_id_taken", request: { status: 400 } });
  t.equal((await call(service, "POST", path, { body })).status, 200);
});

await t.test("an unknown token is refused with 401", async (t) => {
  const token = randomBytes(32).toString("base64url");
  const answer = await call(service, "POST", path, { body: { token, public_key: newKeyPair().spki } });
  t.equal(answer.status, 401);
  t.match(answer.body, invalid);
});

await t.test("a revoked token is refused with 401", async (t) => {
  const { id, token, applicationId } = await createToken(service, owner, []);
  const revoked = await call(service, "DELETE", `/api/org/applications/${applicationId}/tokens/${id}`, {
    token: owner.token,
  });
  t.equal(revoked.status, 204);
  t.equal((await call(service, "POST", path, { body: { token, public_key: newKeyPair().spki } })).status, 401);
});

await t.test("of fifty that spend one token at the same time one gets an identity", async (t) => {
  const { token } = await createToken(service, owner, []);
  const answers = await Promise.all(
    Array.from({ length: 50 }, () => call(service, "POST", path, { body: { token, public_key: newKeyPair().spki } })),
  );
  const count = (status: number): number => answers.filter((answer) => answer.status === status).length;
  t.strictSame([count(200), count(401)], [1, 49]);
});

await t.test("a malformed request is refused before the token is spent", async (t) => {
  const { token } = await createToken(service, owner, []);
  const taken = await createMachine(service, owner, []);
  const { spki } = newKeyPair();
  const bad: object[] = [
    {},
    { token },
    { public_key: spki },
    { token, public_key: "" },
    { token, public_key: "not a key" },
    { token: 7, public_key: spki },
    { token, public_key: spki, client_id: "machine-1" },
    { token, public_key: spki, client_id: taken.clientId },
  ];
  for (const body of bad) {
    const answer = await call(service, "POST", path, { body });
    t.equal(answer.status, 400, JSON.stringify(Object.keys(body)));
    t.match(answer.body, { error: "invalid_request" });
  }
  t.equal((await call(service, "POST", path, { body: { token, public_key: spki } })).status, 200, "it is still unused");
});

await t.test("the client may choose its id, and a lost answer is had again by signing as that id", async (t) => {
  const folderId = await createFolder(service, owner);
  const key = sealed();
  const { token, applicationId } = await createToken(service, owner, [
    { folder_id: folderId, permission: "read", encrypted_folder_key: key },
  ]);
  const pair = newKeyPair();
  const clientId = randomUUID();
  const body = { token, public_key: pair.spki, client_id: clientId.toUpperCase() };
  const spend = () => call(service, "POST", path, { body });
  t.equal((await spend()).body.client_id, clientId);
  t.equal((await spend()).status, 401, "the token itself stays spent");
  const machine: Machine = { clientId, applicationId, key: pair.key };
  const client = await ask(service, machine, "GET", "/client");
  t.match(client.body, { client_id: clientId, application_id: applicationId, folders: [{ id: folderId }] });
  const folders = await ask(service, machine, "GET", "/folders");
  t.match(folders.body.data, [
    { id: folderId, permission: "read", encrypted_key: key, encrypted_key_alg: "box-token" },
  ]);
});

await t.test("blanks around a token do not count", async (t) => {
  const { token } = await createToken(service, owner, []);
  const answer = await call(service, "POST", path, { body: { token: `\n ${token}\t`, public_key: newKeyPair().spki } });
  t.equal(answer.status, 200);
});

await t.test("a token expires at its time", async (t) => {
  service.clock.stop();
  const expires_at = new Date(service.clock.now().getTime() + 60_000).toISOString();
  const tokens = [
    await createToken(service, owner, [], { expires_at }),
    await createToken(service, owner, [], { expires_at }),
  ];
  service.clock.advance(59_999);
  const spend = (n: number) =>
    call(service, "POST", path, { body: { token: tokens[n]?.token, public_key: newKeyPair().spki } });
  t.equal((await spend(0)).status, 200, "a millisecond before");
  service.clock.advance(1);
  t.equal((await spend(1)).status, 401, "at the time itself");
});

await t.test("a token that is bound to addresses stays unused elsewhere, and so is its client", async (t) => {
  const fresh = await register(service, { orgName: "Bound" });
  const { token } = await createToken(service, fresh, [], { allowed_cidrs: ["192.0.2.0/24", "2001:db8::/32"] });
  const { key, spki } = newKeyPair();
  const from = (address: string) => ({ "x-forwarded-for": address });
  const body = { token, public_key: spki };
  const elsewhere = await call(service, "POST", path, { body, headers: from("198.51.100.7") });
  t.equal(elsewhere.status, 403);
  t.match(elsewhere.body, { error: "access_denied" });
  const here = await call(service, "POST", path, { body, headers: from("192.0.2.9") });
  t.equal(here.status, 200);
  const machine: Machine = { clientId: here.body.client_id, applicationId: here.body.application_id, key };
  const authorization = `Bearer ${bearer(machine, { now: service.clock.now() })}`;
  const read = (address: string) =>
    call(service, "GET", "/api/sm/v1/secrets", { headers: { ...from(address), authorization } });
  t.equal((await read("192.0.2.255")).status, 200, "the last address of the network");
  t.equal((await read("192.0.3.0")).status, 403, "the first one behind it");
  t.equal((await read("2001:db8:1::5")).status, 200);
});
