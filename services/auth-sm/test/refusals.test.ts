import { randomUUID } from "node:crypto";
import type { AuditDraft } from "@coffer/events";
import t from "tap";
import { type Answer, call, type CallOptions } from "./support/call.ts";
import { ask, createApplication, createFolder, createMachine, createSecret, secretBody } from "./support/machines.ts";
import { execute, startCompany } from "./support/members.ts";
import { type Person, sealed } from "./support/people.ts";
import { startAuthSm } from "./support/service.ts";

const service = await startAuthSm(t);
const { observer } = service;
const { owner, auditor, member, suspended, stranger, orgId, strangersOrgId } = await startCompany(service);
const folder = await createFolder(service, owner, "here");
const application = await createApplication(service, owner);
const machine = await createMachine(service, owner, [{ folder_id: folder, permission: "read" }]);

let calls = 0;

/** A call of a person, by a request id that its record can be told by. */
async function tried(
  person: Person,
  method: string,
  path: string,
  { headers, ...options }: Omit<CallOptions, "token"> = {},
): Promise<{ answer: Answer; requestId: string }> {
  const requestId = `tried-${(calls += 1)}`;
  const all = { ...headers, "x-request-id": requestId };
  return { answer: await call(service, method, path, { ...options, token: person.token, headers: all }), requestId };
}

const recordOf = (requestId: string): Promise<AuditDraft> =>
  observer.record(`the record of ${requestId}`, ({ request }) => request.id === requestId);

const newFolder = { name: "another", encrypted_key: sealed() };

await t.test("a denial is recorded as the attempted action", async (t) => {
  const { answer, requestId } = await tried(member, "POST", "/api/org/folders", {
    body: newFolder,
    headers: { "user-agent": "a test" },
  });
  t.equal(answer.status, 403);
  t.match(await recordOf(requestId), {
    schema: "coffer.audit/1",
    org_id: orgId,
    action: "folder.created",
    outcome: "denied",
    reason: "access_denied",
    actor: { type: "user", id: member.userId, session_id: member.sessionId },
    target: { type: "folder", id: null },
    source: { ip: "127.0.0.1", user_agent: "a test" },
    request: { id: requestId, method: "POST", route: "/api/org/folders", status: 403 },
  });
});

await t.test("each endpoint that changes something records its denial", async (t) => {
  const client = `/api/org/applications/${machine.applicationId}/clients/${machine.clientId}`;
  const ofClient = { type: "client", id: machine.clientId, parent_id: machine.applicationId };
  const jwe = "eyJh.a2V5.aXY.Y2lw.dGFn";
  const attempts: [string, string, object | undefined, string, object][] = [
    ["PATCH", `/api/org/folders/${folder}`, { name: "x" }, "folder.updated", { type: "folder", id: folder }],
    ["DELETE", `/api/org/folders/${folder}`, undefined, "folder.deleted", { type: "folder", id: folder }],
    ["POST", "/api/org/applications", { name: "x" }, "application.created", { type: "application", id: null }],
    [
      "PATCH",
      `/api/org/applications/${application}`,
      { name: "x" },
      "application.updated",
      { type: "application", id: application },
    ],
    [
      "DELETE",
      `/api/org/applications/${application}`,
      undefined,
      "application.deleted",
      { type: "application", id: application },
    ],
    ["DELETE", client, undefined, "client.revoked", ofClient],
    ["PUT", `${client}/folders/${folder}`, { permission: "read", encrypted_key: jwe }, "client.grant.added", ofClient],
    ["DELETE", `${client}/folders/${folder}`, undefined, "client.grant.removed", ofClient],
    [
      "POST",
      `/api/org/applications/${application}/tokens`,
      { name: "x", folders: [] },
      "token.issued",
      { type: "token", id: null, parent_id: application },
    ],
    [
      "DELETE",
      `/api/org/applications/${application}/tokens/${folder}`,
      undefined,
      "token.revoked",
      { type: "token", id: folder, parent_id: application },
    ],
  ];
  for (const [method, path, body, action, target] of attempts) {
    const { answer, requestId } = await tried(auditor, method, path, { body });
    t.equal(answer.status, 403, `${method} ${path}`);
    t.match(await recordOf(requestId), { org_id: orgId, action, outcome: "denied", target, request: { method } });
  }
});

await t.test("a machine that may not even see itself from where it is leaves a record of it", async (t) => {
  const bound = await createMachine(service, owner, [{ folder_id: folder, permission: "read" }]);
  const text = "UPDATE auth_sm.clients SET allowed_cidrs = '{203.0.113.0/24}' WHERE id = $1";
  await execute(service, text, [bound.clientId]);
  for (const path of ["/folders", "/client"]) {
    const requestId = `tried-${(calls += 1)}`;
    const answer = await ask(service, bound, "GET", path, { headers: { "x-request-id": requestId } });
    t.equal(answer.status, 403, path);
    t.match(await recordOf(requestId), {
      org_id: orgId,
      action: "client.access.denied",
      outcome: "denied",
      reason: "access_denied",
      actor: { type: "client", id: bound.clientId, application_id: bound.applicationId },
      target: { type: "client", id: bound.clientId },
      request: { route: `/api/sm/v1${path}`, status: 403 },
    });
  }
});

await t.test("a uid that is taken is a failed creation, by a machine and by a person", async (t) => {
  const writer = await createMachine(service, owner, [{ folder_id: folder, permission: "write" }]);
  const uid = await createSecret(service, writer, folder);
  const requestId = `tried-${(calls += 1)}`;
  const headers = { "x-request-id": requestId };
  const answer = await ask(service, writer, "POST", "/secrets", { headers, body: secretBody(folder, { uid }) });
  const again = await tried(owner, "POST", `/api/org/folders/${folder}/secrets`, { body: secretBody(folder, { uid }) });
  for (const [refused, id, actor] of [
    [answer, requestId, { type: "client", id: writer.clientId }],
    [again.answer, again.requestId, { type: "user", id: owner.userId }],
  ] as const) {
    t.strictSame([refused.status, refused.body.error], [400, "invalid_request"]);
    t.match(await recordOf(id), {
      org_id: orgId,
      action: "secret.created",
      outcome: "failure",
      reason: "uid_taken",
      actor,
      target: { type: "secret", id: uid, parent_id: folder },
      request: { status: 400 },
    });
  }
});

await t.test("a refused creation names the id that the client made", async (t) => {
  const [id, uid] = [randomUUID(), "an-id-of-22-characters"];
  const denied = await tried(member, "POST", "/api/org/folders", { body: { ...newFolder, id } });
  t.equal(denied.answer.status, 403);
  t.strictSame((await recordOf(denied.requestId)).target, { type: "folder", id });
  const secret = await tried(member, "POST", `/api/org/folders/${folder}/secrets`, {
    body: secretBody(folder, { uid }),
  });
  t.equal(secret.answer.status, 403);
  t.strictSame((await recordOf(secret.requestId)).target, { type: "secret", id: uid, parent_id: folder });
});

await t.test("a machine's denial names the requested folder", async (t) => {
  const other = await createFolder(service, owner, "not granted");
  const asked = async (method: string, path: string, body?: object): Promise<AuditDraft> => {
    const headers = { "x-request-id": `tried-${(calls += 1)}` };
    t.equal((await ask(service, machine, method, path, { headers, ...(body && { body }) })).status, 403, path);
    return recordOf(headers["x-request-id"]);
  };
  const ofFolder = { type: "folder", id: other };
  t.strictSame((await asked("GET", `/secrets?folder_id=${other}`)).target, ofFolder);
  t.strictSame((await asked("GET", `/secrets?limit=1&folder_id=${other}`)).target, ofFolder);
  t.strictSame((await asked("GET", `/secrets/search?title=a&folder_id=${other}`)).target, ofFolder);
  const created = await asked("POST", "/secrets", secretBody(other));
  t.strictSame(created.target, { type: "secret", id: null, parent_id: other });
  const uid = "A".repeat(22);
  const named = await asked("POST", "/secrets", secretBody(folder, { uid }));
  t.strictSame(named.target, { type: "secret", id: uid, parent_id: folder });
  t.match(named, { action: "secret.created", outcome: "denied", org_id: orgId, actor: { id: machine.clientId } });
});

await t.test("the request of a machine whose client has ended is recorded", async (t) => {
  const ended = await createMachine(service, owner, [{ folder_id: folder, permission: "read" }]);
  const path = `/api/org/applications/${ended.applicationId}/clients/${ended.clientId}`;
  t.equal((await call(service, "DELETE", path, { token: owner.token })).status, 204);
  const headers = { "x-request-id": "ended-machine" };
  t.equal((await ask(service, ended, "GET", "/secrets", { headers })).status, 401);
  const { action, target } = await recordOf("ended-machine");
  t.strictSame({ action, target }, { action: "client.auth.failed", target: { type: "org", id: orgId } });
});

await t.test("a missing object or a conflict is a failure", async (t) => {
  const absent = await tried(owner, "DELETE", "/api/org/folders/00000000-0000-7000-8000-000000000000");
  t.match(await recordOf(absent.requestId), { outcome: "failure", reason: "not_found", request: { status: 404 } });
  const taken = await tried(owner, "POST", "/api/org/folders", { body: { ...newFolder, name: "HERE" } });
  t.match(await recordOf(taken.requestId), { outcome: "failure", reason: "conflict", request: { status: 409 } });
});

await t.test("an id is on record in lower case, however it was sent", async (t) => {
  const { answer, requestId } = await tried(auditor, "DELETE", `/api/org/folders/${folder.toUpperCase()}`);
  t.equal(answer.status, 403);
  t.strictSame((await recordOf(requestId)).target, { type: "folder", id: folder });
});

await t.test("a text sent as an id is not quoted", async (t) => {
  const { answer, requestId } = await tried(owner, "DELETE", `/api/org/folders/${"%3Cscript%3E".repeat(20)}`);
  t.equal(answer.status, 404);
  const record = await recordOf(requestId);
  t.strictSame(record.target, { type: "folder", id: null });
  t.notOk(JSON.stringify(record).includes("script"));
});

await t.test("the record belongs to the caller's organization, and reveals nothing to another", async (t) => {
  const foreign = await tried(stranger, "DELETE", `/api/org/folders/${folder}`);
  t.equal(foreign.answer.status, 404);
  t.match(await recordOf(foreign.requestId), { org_id: strangersOrgId, outcome: "failure" });
  const outside = await tried(stranger, "DELETE", `/api/org/folders/${folder}`, { headers: { "x-coffer-org": orgId } });
  t.equal(outside.answer.status, 403);
  t.match(await recordOf(outside.requestId), { org_id: null, outcome: "denied", actor: { id: stranger.userId } });
  const idle = await tried(suspended, "DELETE", `/api/org/folders/${folder}`);
  t.equal(idle.answer.status, 403);
  t.match(await recordOf(idle.requestId), { org_id: null, outcome: "denied", actor: { id: suspended.userId } });
});

await t.test("bad input, an unknown caller and the lists leave no record", async (t) => {
  const silent = [
    await tried(owner, "POST", "/api/org/folders", { body: {} }),
    await tried({ ...owner, token: "x" }, "POST", "/api/org/folders", { body: newFolder }),
    await tried(member, "GET", "/api/org/applications"),
  ];
  t.strictSame(
    silent.map(({ answer }) => answer.status),
    [400, 401, 403],
  );
  const last = await tried(member, "POST", "/api/org/folders", { body: newFolder });
  await recordOf(last.requestId);
  const ids = new Set(silent.map(({ requestId }) => requestId));
  t.strictSame(
    observer.records.filter(({ request }) => ids.has(request.id)),
    [],
  );
});

await t.test("refused requests change nothing", async (t) => {
  const { body } = await call(service, "GET", "/api/org/folders", { token: owner.token });
  t.strictSame(
    body.data.map(({ name }) => name),
    ["here", "not granted"],
  );
});
