import t from "tap";
import { call } from "../support/call.ts";
import { execute, invite, startCompany } from "../support/members.ts";
import { newEmail, register, registration } from "../support/people.ts";
import { startAuthSm } from "../support/service.ts";

const service = await startAuthSm(t);
const { observer } = service;
const { owner, orgId, member } = await startCompany(service);
const invitedOnly = await service.replica({ COFFER_SIGNUPS: "invite" });

const finish = (body: object, at: { url: string } = invitedOnly) =>
  call(at, "POST", "/api/auth/register/finish", { body });
const invitation = async (email: string, role = "member"): Promise<string> =>
  (await invite(service, owner, { email, role })).body.token;
const orgsOf = async (token: string) => (await call(service, "GET", "/api/account", { token })).body.organizations;
const people = () => execute(service, "SELECT FROM auth_sm.users");

await t.test("an invited person registers and is a member at once", async (t) => {
  for (const at of [service, invitedOnly]) {
    const email = newEmail();
    const body = { ...(await registration(at, { email })), invite_token: await invitation(email, "admin") };
    const answer = await finish(body, at);
    t.equal(answer.status, 201);
    t.match(await orgsOf(answer.body.access_token), [{ id: orgId, role: "admin", status: "active" }]);
    const { id } = answer.body.user;
    const joined = ({ action, target }: { action: string; target: { id: string | null } }) =>
      action === "org.member.accepted" && target.id === id;
    t.match(await observer.record("the joining", joined), { org_id: orgId, actor: { type: "user", id } });
    const registered = await observer.record(
      "the account",
      (one) => one.action === "user.registered" && one.target.id === id,
    );
    t.equal(registered.org_id, orgId);
  }
});

await t.test("an invitation and an organization of one's own go together", async (t) => {
  const email = newEmail();
  const body = { ...(await registration(service, { email })), org_name: "Own", invite_token: await invitation(email) };
  const answer = await finish(body);
  t.strictSame((await orgsOf(answer.body.access_token)).map(({ id }) => id === orgId).sort(), [false, true]);
});

await t.test("a registration without the required invitation fails", async (t) => {
  const body = await registration(invitedOnly, {});
  const before = (await people()).length;
  const answer = await finish(body);
  t.equal(answer.status, 403);
  t.equal(answer.body.error, "registration_closed");
  t.equal((await finish({ ...body, invite_token: "" })).status, 400);
  t.equal((await people()).length, before);
});

await t.test("an invalid invitation makes no account, also with open registration", async (t) => {
  const [email, other] = [newEmail(), newEmail()];
  const body = await registration(service, { email });
  const before = (await people()).length;
  const token = await invitation(other);
  for (const at of [service, invitedOnly]) {
    const unknown = await finish({ ...body, invite_token: "cfi1_x" }, at);
    t.equal(unknown.status, 404);
    t.equal(unknown.body.error, "not_found");
    const foreign = await finish({ ...body, invite_token: token }, at);
    t.equal(foreign.status, 403);
    t.equal(foreign.body.error, "access_denied");
  }
  t.equal((await people()).length, before);
  const denial = await observer.record(
    "the denial",
    ({ outcome, action }) => outcome === "denied" && action === "org.member.accepted",
  );
  t.match(denial, { org_id: orgId, actor: { type: "anonymous", id: null }, target: { type: "invite" } });
  t.equal(
    (await finish({ ...(await registration(service, { email: other })), invite_token: token })).status,
    201,
    "it stayed good",
  );
});

await t.test("with a bad invitation a known e-mail is answered like an unknown one", async (t) => {
  for (const email of [member.email, newEmail()]) {
    const body = await registration(service, { email });
    t.equal((await finish({ ...body, invite_token: "cfi1_x" })).status, 404);
  }
});

await t.test("a person with an account gets that answer, and the invitation stays valid", async (t) => {
  const person = await register(service);
  const token = await invitation(person.email);
  const body = { ...(await registration(service, { email: person.email })), invite_token: token };
  t.equal((await finish(body)).status, 409);
  const answer = await call(service, "POST", "/api/org/invites/accept", { token: person.token, body: { token } });
  t.equal(answer.status, 200);
});

await t.test("of many registrations at once with one invitation, one succeeds", async (t) => {
  const email = newEmail();
  const token = await invitation(email);
  const body = { ...(await registration(service, { email })), invite_token: token };
  const statuses = (await Promise.all(Array.from({ length: 8 }, () => finish(body))))
    .map(({ status }) => status)
    .sort();
  // The start of the registration allows five attempts.
  t.strictSame(statuses, [201, 400, 400, 400, 404, 404, 404, 404]);
});
