import t from "tap";
import { call } from "../support/call.ts";
import { createApplication, createToken, newKeyPair } from "../support/machines.ts";
import { execute, invite, join, type Role, startCompany } from "../support/members.ts";
import { newEmail, type Person, register } from "../support/people.ts";
import { startAuthSm } from "../support/service.ts";

// What a member has offered to others ends with the right to offer it.

const service = await startAuthSm(t);
const { observer } = service;
const { owner, orgId } = await startCompany(service);

const change = (userId: string, body: object) =>
  call(service, "PATCH", `/api/org/members/${userId}`, { token: owner.token, body });
const endings = {
  removed: (person: Person) => call(service, "DELETE", `/api/org/members/${person.userId}`, { token: owner.token }),
  suspended: (person: Person) => change(person.userId, { status: "suspended" }),
};
const newMember = async (role: Role): Promise<Person> => {
  const person = await register(service);
  await join(service, orgId, person, role);
  return person;
};

await t.test("a member who loses the right to invite and to issue tokens loses the open ones", async (t) => {
  const application = await createApplication(service, owner);
  const bootstrap = async (token: string) =>
    (await call(service, "POST", "/api/sm/v1/bootstrap", { body: { token, public_key: newKeyPair().spki } })).status;
  const ways = { ...endings, demoted: (person: Person) => change(person.userId, { role: "auditor" }) };
  for (const [name, end] of Object.entries(ways)) {
    const person = await newMember("admin");
    const issued = await createToken(service, person, [], { applicationId: application });
    const invited = await invite(service, person, { email: newEmail(), role: "member" });
    t.equal(invited.status, 201);
    t.ok((await end(person)).status < 300);
    t.equal(await bootstrap(issued.token), 401, name);
    const left = await execute(service, "SELECT FROM auth_sm.invites WHERE id = $1", [invited.body.id]);
    t.equal(left.length, 0, name);
    const record = await observer.record(
      "the token",
      ({ action, target }) => action === "token.revoked" && target.id === issued.id,
    );
    t.match(record, { org_id: orgId, target: { parent_id: application }, reason: String });
  }
});

await t.test("an owner who becomes an admin keeps the invitations and tokens that an admin may make", async (t) => {
  const person = await newMember("owner");
  const issued = await createToken(service, person, []);
  const [toOwner, toMember] = [
    await invite(service, person, { email: newEmail(), role: "owner" }),
    await invite(service, person, { email: newEmail(), role: "member" }),
  ];
  t.equal((await change(person.userId, { role: "admin" })).status, 200);
  const open = await call(service, "GET", "/api/org/invites", { token: owner.token });
  const ids = open.body.data.map(({ id }) => id);
  t.strictSame(
    [toOwner, toMember].map(({ body }) => ids.includes(body.id)),
    [false, true],
  );
  const [row] = (await execute(service, "SELECT revoked_at FROM auth_sm.access_tokens WHERE id = $1", [issued.id])) as {
    revoked_at: unknown;
  }[];
  t.equal(row?.revoked_at, null);
});
