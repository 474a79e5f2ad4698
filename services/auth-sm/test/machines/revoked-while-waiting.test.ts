import t from "tap";
import { call } from "../support/call.ts";
import { ask, createFolder, createMachine, createSecret, type Machine } from "../support/machines.ts";
import { execute, share, startCompany } from "../support/members.ts";
import { logIn, type Person } from "../support/people.ts";
import { startAuthSm } from "../support/service.ts";
import { whileWaitingFor } from "../support/waiting.ts";

// A request that has been let in waits for Postgres, as during a migration, and is answered by what
// is so afterwards.

const service = await startAuthSm(t);
const company = await startCompany(service);
const { owner, member, admin } = company;
const folder = await createFolder(service, owner);
const other = await createFolder(service, owner);
const writer = await createMachine(service, owner, [{ folder_id: folder, permission: "write" }]);
const uid = await createSecret(service, writer, folder, { title: "database" });

const revoke = async ({ applicationId, clientId }: Machine) => {
  const path = `/api/org/applications/${applicationId}/clients/${clientId}`;
  const { status } = await call(service, "DELETE", path, { token: owner.token });
  if (status !== 204) throw new Error(`the revocation was answered ${status}`);
};
const newMachine = () => createMachine(service, owner, [{ folder_id: folder, permission: "read" }]);

await t.test("a machine that is revoked while its requests wait gets nothing more", async (t) => {
  for (const [table, paths] of [
    ["secrets", ["/secrets", "/secrets?limit=5", "/secrets/search?title=data", `/secrets/${uid}`]],
    ["folders", ["/folders", "/client"]],
  ] as const) {
    // One machine for each: nothing of one request is shared with another.
    for (const path of paths) {
      const machine = await newMachine();
      const [answer] = await whileWaitingFor(service, table, [() => ask(service, machine, "GET", path)], () =>
        revoke(machine),
      );
      t.equal(answer?.status, 401, path);
      t.match(answer?.body, { error: "invalid_token" });
    }
  }
});

await t.test("a machine whose grant is revoked while its requests wait gets no secret of that folder", async (t) => {
  const machine = await newMachine();
  await execute(
    service,
    "INSERT INTO auth_sm.client_folders (client_id, folder_id, permission, added_at) VALUES ($1, $2, 'read', now())",
    [machine.clientId, other],
  );
  const paths = ["/secrets", "/secrets?limit=5", "/secrets/search?title=data", `/secrets?limit=5&folder_id=${folder}`];
  const requests = paths.map((path) => () => ask(service, machine, "GET", path));
  const answers = await whileWaitingFor(service, "secrets", requests, () =>
    execute(service, "DELETE FROM auth_sm.client_folders WHERE client_id = $1 AND folder_id = $2", [
      machine.clientId,
      folder,
    ]),
  );
  t.strictSame(
    answers.map(({ status }) => status),
    [200, 200, 200, 403],
  );
  for (const { body } of answers.slice(0, 3)) t.strictSame(body.data, []);
});

await t.test("a person who is logged out while a list waits does not get it", async (t) => {
  const person = await logIn(service, admin);
  const end = () =>
    execute(service, "UPDATE auth_sm.sessions SET revoked_at = now() WHERE id = $1", [person.sessionId]);
  const list = () => call(service, "GET", "/api/org/members", { token: person.token });
  const [answer] = await whileWaitingFor(service, "memberships", [list], end);
  t.strictSame([answer?.status, answer?.body.error], [401, "invalid_token"]);
});

await t.test("a person who may no longer gets nothing more", async (t) => {
  const suspend = ({ userId }: Person) =>
    execute(service, "UPDATE auth_sm.memberships SET status = 'suspended' WHERE user_id = $1", [userId]);
  const withdraw = ({ userId }: Person) =>
    execute(service, "DELETE FROM auth_sm.folder_members WHERE user_id = $1", [userId]);
  const end = ({ sessionId }: Person) =>
    execute(service, "UPDATE auth_sm.sessions SET revoked_at = now() WHERE id = $1", [sessionId]);
  const base = `/api/org/folders/${folder}/secrets`;
  for (const [what, person, change, status] of [
    ["a grant is withdrawn", member, withdraw, 403],
    ["a member is suspended", member, suspend, 403],
    ["a session is ended", admin, end, 401],
  ] as const) {
    await share(service, folder, person, "read");
    const requests = [base, `${base}?limit=5`, `${base}/${uid}`].map(
      (path) => () => call(service, "GET", path, { token: person.token }),
    );
    t.strictSame(
      (await Promise.all(requests.map((request) => request()))).map((answer) => answer.status),
      [200, 200, 200],
      `before ${what}`,
    );
    const answers = await whileWaitingFor(service, "secrets", requests, () => change(person));
    t.strictSame(
      answers.map((answer) => answer.status),
      [status, status, status],
      what,
    );
  }
});
