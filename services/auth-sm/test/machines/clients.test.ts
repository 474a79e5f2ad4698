import { until } from "@coffer/testkit";
import t from "tap";
import { call } from "../support/call.ts";
import { ask, createApplication, createFolder, createMachine } from "../support/machines.ts";
import { share, startCompany } from "../support/members.ts";
import { type Person, sealed } from "../support/people.ts";
import { startAuthSm } from "../support/service.ts";

const service = await startAuthSm(t);
const { clock } = service;
const { owner, admin, auditor, member, suspended, stranger, orgId } = await startCompany(service);

/** In the form of a compact JWE; the server looks no further. */
const jwe = "eyJhbGciOiJFQ0RILUVTK0EyNTZLVyJ9.a2V5.aXY.Y2lwaGVydGV4dA.dGFn";

const base = (applicationId: string): string => `/api/org/applications/${applicationId}/clients`;
const list = ({ token }: Person, applicationId: string) => call(service, "GET", base(applicationId), { token });
const revoke = ({ token }: Person, applicationId: string, clientId: string) =>
  call(service, "DELETE", `${base(applicationId)}/${clientId}`, { token });
const grant = (
  { token }: Person,
  machine: { applicationId: string; clientId: string },
  folderId: string,
  body: object = {},
) =>
  call(service, "PUT", `${base(machine.applicationId)}/${machine.clientId}/folders/${folderId}`, {
    token,
    body: { permission: "read", encrypted_key: jwe, ...body },
  });
const withdraw = ({ token }: Person, machine: { applicationId: string; clientId: string }, folderId: string) =>
  call(service, "DELETE", `${base(machine.applicationId)}/${machine.clientId}/folders/${folderId}`, { token });

await t.test("the list shows a machine's data, its last address and its grants", async (t) => {
  const [sealedFor, unsealed] = [await createFolder(service, owner, "a"), await createFolder(service, owner, "b")];
  const machine = await createMachine(service, owner, [
    { folder_id: sealedFor, permission: "write", encrypted_folder_key: sealed() },
    { folder_id: unsealed, permission: "read" },
  ]);
  await ask(service, machine, "GET", "/secrets");
  const seen = await until("the machine was seen", async () => {
    const { body } = await list(owner, machine.applicationId);
    return body.data[0]?.last_used_at != null && body.data;
  });
  t.match(seen, [
    {
      client_id: machine.clientId,
      name: "a machine",
      status: "active",
      public_key: /^MFkw/,
      created_at: /Z$/,
      last_used_at: /Z$/,
      last_ip: "127.0.0.1",
      expires_at: null,
      folders: [
        { id: sealedFor, name: "a", permission: "write", key_sealed: true },
        { id: unsealed, name: "b", permission: "read", key_sealed: false },
      ],
    },
  ]);
  for (const person of [admin, auditor]) t.equal((await list(person, machine.applicationId)).status, 200);
  for (const person of [member, suspended]) t.equal((await list(person, machine.applicationId)).status, 403);
  t.equal((await list(stranger, machine.applicationId)).status, 404);
});

await t.test("a machine that is revoked meets 401 at its next request, for good", async (t) => {
  const folder = await createFolder(service, owner);
  const machine = await createMachine(service, owner, [{ folder_id: folder, permission: "read" }]);
  const { applicationId, clientId } = machine;
  t.equal((await ask(service, machine, "GET", "/secrets")).status, 200);
  for (const person of [auditor, member, suspended]) {
    t.equal((await revoke(person, applicationId, clientId)).status, 403);
  }
  t.equal((await revoke(stranger, applicationId, clientId)).status, 404);
  t.equal((await ask(service, machine, "GET", "/secrets")).status, 200, "none of those callers could");
  t.equal((await revoke(admin, applicationId, clientId)).status, 204);
  t.equal((await ask(service, machine, "GET", "/secrets")).status, 401);
  t.equal((await revoke(admin, applicationId, clientId)).status, 204, "again: no effect");
  const revocations = () =>
    service.observer.records.filter(
      ({ action, target, outcome }) => action === "client.revoked" && target.id === clientId && outcome === "success",
    );
  await until("the record", () => revocations().length > 0);
  t.match(revocations(), [{ org_id: orgId, target: { type: "client", parent_id: applicationId } }]);
  t.match((await list(owner, applicationId)).body.data, [{ status: "revoked" }]);
});

await t.test("a client of another application, or of no shape, is 404", async (t) => {
  const folder = await createFolder(service, owner);
  const machine = await createMachine(service, owner, [{ folder_id: folder, permission: "read" }]);
  const other = await createApplication(service, owner);
  const ids: [string, string][] = [
    [other, machine.clientId],
    [machine.applicationId, other],
    [machine.applicationId, "x"],
    ["x", machine.clientId],
  ];
  for (const [applicationId, clientId] of ids) {
    t.equal((await revoke(owner, applicationId, clientId)).status, 404);
    t.equal((await grant(owner, { applicationId, clientId }, folder)).status, 404);
    t.equal((await withdraw(owner, { applicationId, clientId }, folder)).status, 404);
  }
  t.equal((await ask(service, machine, "GET", "/secrets")).status, 200);
});

await t.test("a grant gives a machine a folder with its key, changes it and takes it away", async (t) => {
  const [first, second] = [await createFolder(service, owner), await createFolder(service, owner)];
  const machine = await createMachine(service, owner, [{ folder_id: first, permission: "read" }]);
  const keys = async () =>
    (await ask(service, machine, "GET", "/folders")).body.data.map(
      ({ id, permission, encrypted_key, encrypted_key_alg }) => ({ id, permission, encrypted_key, encrypted_key_alg }),
    );
  const answer = await grant(owner, machine, second, { key_version: 1 });
  t.equal(answer.status, 200);
  t.match(answer.body, {
    client_id: machine.clientId,
    folder_id: second,
    permission: "read",
    key_version: 1,
    added_at: /Z$/,
  });
  const given = { id: second, permission: "read", encrypted_key: jwe, encrypted_key_alg: "jwe" };
  t.match(
    (await keys()).find(({ id }) => id === second),
    given,
  );
  t.equal((await grant(owner, machine, second, { permission: "write" })).body.permission, "write");
  t.match(
    (await keys()).find(({ id }) => id === second),
    { permission: "write" },
  );
  t.equal((await grant(owner, machine, first)).status, 200, "seals what the token did not");
  t.match(
    (await keys()).find(({ id }) => id === first),
    { encrypted_key: jwe },
  );
  t.equal((await withdraw(owner, machine, second)).status, 204);
  t.equal((await withdraw(owner, machine, second)).status, 404, "it has none any more");
  t.strictSame(
    (await keys()).map(({ id }) => id),
    [first],
  );
  const added = await service.observer.record(
    "the grant",
    ({ action, target }) => action === "client.grant.added" && target.id === machine.clientId,
  );
  t.match(added, { org_id: orgId, changes: { folder_id: second, permission: "read", key_version: 1 } });
  const removed = await service.observer.record(
    "its end",
    ({ action, target, outcome }) =>
      action === "client.grant.removed" && target.id === machine.clientId && outcome === "success",
  );
  t.match(removed, { changes: { folder_id: second } });
});

await t.test("granting needs manage on the folder, for every role", async (t) => {
  const folder = await createFolder(service, owner);
  const machine = await createMachine(service, owner, []);
  for (const person of [admin, auditor, member, suspended]) {
    const answer = await grant(person, machine, folder);
    t.equal(answer.status, 403);
    t.equal(answer.body.error, "access_denied");
  }
  await share(service, folder, member, "write");
  t.equal((await grant(member, machine, folder)).status, 403, "write");
  await share(service, folder, member, "manage");
  t.equal((await grant(member, machine, folder)).status, 200, "manage");
  await share(service, folder, auditor, "manage");
  t.equal((await grant(auditor, machine, folder)).status, 403, "an auditor");
  t.equal((await grant(stranger, machine, folder)).status, 404);
  const foreign = await createFolder(service, stranger);
  t.equal((await grant(owner, machine, foreign)).status, 404, "another organization's folder");
  t.equal((await grant(owner, machine, "x")).status, 404);
});

await t.test("a manager of the organization or the folder revokes a grant", async (t) => {
  const folder = await createFolder(service, owner);
  const machine = await createMachine(service, owner, [{ folder_id: folder, permission: "read" }]);
  await share(service, folder, member, "write");
  for (const person of [auditor, member, suspended]) t.equal((await withdraw(person, machine, folder)).status, 403);
  t.equal((await withdraw(admin, machine, folder)).status, 204, "an admin, without a grant");
  await grant(owner, machine, folder);
  await share(service, folder, member, "manage");
  t.equal((await withdraw(member, machine, folder)).status, 204);
});

await t.test("a machine reads and writes; more cannot be granted, and only a key sealed to it", async (t) => {
  const folder = await createFolder(service, owner);
  const machine = await createMachine(service, owner, []);
  const wrong = [
    { permission: "manage" },
    { permission: undefined },
    { encrypted_key: undefined },
    { encrypted_key: sealed() },
    { encrypted_key: "" },
    { key_version: 1.5 },
  ];
  for (const body of wrong) t.equal((await grant(owner, machine, folder, body)).status, 400, JSON.stringify(body));
  t.equal((await grant(owner, machine, folder, { encrypted_key: `${jwe}${"A".repeat(4 * 1024)}` })).status, 413);
  t.equal((await grant(owner, machine, folder, { key_version: 2 })).status, 409, "another key");
  t.strictSame((await ask(service, machine, "GET", "/folders")).body.data, []);
  const longest = jwe.padEnd(4 * 1024, "A");
  t.equal((await grant(owner, machine, folder, { encrypted_key: longest })).status, 200);
});

await t.test("a revoked or expired machine is given nothing", async (t) => {
  const folder = await createFolder(service, owner);
  const revoked = await createMachine(service, owner, []);
  await revoke(owner, revoked.applicationId, revoked.clientId);
  t.equal((await grant(owner, revoked, folder)).status, 409);
  clock.stop();
  const client_expires_at = new Date(clock.now().getTime() + 60_000).toISOString();
  const expiring = await createMachine(service, owner, [], { client_expires_at });
  clock.advance(59_999);
  t.equal((await grant(owner, expiring, folder)).status, 200);
  t.match((await list(owner, expiring.applicationId)).body.data, [{ status: "active" }]);
  clock.advance(1);
  t.equal((await grant(owner, expiring, folder)).status, 409);
  t.match((await list(owner, expiring.applicationId)).body.data, [{ status: "expired" }]);
});
