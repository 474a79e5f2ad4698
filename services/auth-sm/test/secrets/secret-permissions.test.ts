import { randomUUID } from "node:crypto";
import t from "tap";
import { ask, createFolder, createMachine, createSecret, secretBody } from "../support/machines.ts";
import { register, sealed } from "../support/people.ts";
import { startAuthSm } from "../support/service.ts";

const service = await startAuthSm(t);
const owner = await register(service, { orgName: "Example" });
const stranger = await register(service, { orgName: "Elsewhere" });
const folder = await createFolder(service, owner, "production");
const readable = await createFolder(service, owner, "readable");
const hidden = await createFolder(service, owner, "hidden");
const foreign = await createFolder(service, stranger, "foreign");
const machine = await createMachine(service, owner, [
  { folder_id: folder, permission: "write" },
  { folder_id: readable, permission: "read" },
]);
const writer = await createMachine(service, owner, [
  { folder_id: readable, permission: "write" },
  { folder_id: hidden, permission: "write" },
]);
const outsider = await createMachine(service, stranger, [{ folder_id: foreign, permission: "write" }]);

const elsewhere = {
  readable: await createSecret(service, writer, readable, { fields: { password: sealed() } }),
  hidden: await createSecret(service, writer, hidden, { fields: { password: sealed() } }),
  foreign: await createSecret(service, outsider, foreign, { fields: { password: sealed() } }),
};

await t.test(
  "read and write below a folder follow its grant, and another organization's secrets do not exist",
  async (t) => {
    const update = { encrypted_payload: sealed(), wrapped_dek: sealed() };
    const expected = {
      readable: { GET: 200, field: 200, PUT: 403, DELETE: 403 },
      hidden: { GET: 403, field: 403, PUT: 403, DELETE: 403 },
      foreign: { GET: 404, field: 404, PUT: 404, DELETE: 404 },
    };
    for (const [where, statuses] of Object.entries(expected)) {
      const uid = elsewhere[where as keyof typeof elsewhere];
      const seen = {
        GET: (await ask(service, machine, "GET", `/secrets/${uid}`)).status,
        field: (await ask(service, machine, "GET", `/secrets/${uid}/fields/password`)).status,
        PUT: (await ask(service, machine, "PUT", `/secrets/${uid}`, { body: update })).status,
        DELETE: (await ask(service, machine, "DELETE", `/secrets/${uid}`)).status,
      };
      t.strictSame(seen, statuses, where);
    }
    const denied = await ask(service, machine, "GET", `/secrets/${elsewhere.hidden}`);
    t.match(denied.body, { error: "access_denied" });
  },
);

await t.test(
  "a secret is made only in a folder with write permission: everything else is 403, existing or not",
  async (t) => {
    for (const folderId of [readable, hidden, foreign, randomUUID()]) {
      const answer = await ask(service, machine, "POST", "/secrets", { body: secretBody(folderId) });
      t.equal(answer.status, 403);
      t.match(answer.body, { error: "access_denied" });
    }
  },
);

await t.test("every action of a machine is on record with who, what and from where", async (t) => {
  const uid = await createSecret(service, machine, folder, { fields: { password: sealed() } });
  await ask(service, machine, "GET", `/secrets/${uid}`, {
    headers: { "user-agent": "a test", "x-request-id": "read-1" },
  });
  await ask(service, machine, "GET", `/secrets/${uid}/fields/password`);
  await ask(service, machine, "PUT", `/secrets/${uid}`, {
    body: { encrypted_payload: sealed(), wrapped_dek: sealed() },
  });
  await ask(service, machine, "DELETE", `/secrets/${uid}`);
  for (const action of ["secret.created", "secret.read", "secret.field.read", "secret.updated", "secret.deleted"]) {
    const record = await service.observer.record(action, (each) => each.action === action && each.target.id === uid);
    t.match(record, {
      outcome: "success",
      actor: { type: "client", id: machine.clientId, application_id: machine.applicationId },
      target: { type: "secret", parent_id: folder },
      source: { ip: "127.0.0.1" },
    });
  }
  const read = await service.observer.record("the read", ({ request }) => request.id === "read-1");
  t.match(read, {
    source: { user_agent: "a test" },
    request: { method: "GET", route: "/api/sm/v1/secrets/{uid}", status: 200 },
  });
});

await t.test("a denial and a failure are on record as the attempted action", async (t) => {
  await ask(service, machine, "DELETE", `/secrets/${elsewhere.hidden}`);
  const denied = await service.observer.record("the denial", ({ action, target }) => {
    return action === "secret.deleted" && target.id === elsewhere.hidden;
  });
  t.match(denied, {
    outcome: "denied",
    reason: "access_denied",
    actor: { id: machine.clientId },
    request: { status: 403 },
  });
  const uid = "nobodyhasthissecretuid";
  await ask(service, machine, "GET", `/secrets/${uid}`);
  const failed = await service.observer.record("the failure", ({ target }) => target.id === uid);
  t.match(failed, { action: "secret.read", outcome: "failure", reason: "secret_not_found", request: { status: 404 } });
});
