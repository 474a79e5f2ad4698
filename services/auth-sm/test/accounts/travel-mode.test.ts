import { randomUUID } from "node:crypto";
import { setTimeout as sleep } from "node:timers/promises";
import { ServiceError } from "@coffer/errors";
import { until } from "@coffer/testkit";
import t from "tap";
import { call } from "../support/call.ts";
import { bearer, createFolder, createMachine } from "../support/machines.ts";
import { accept, invite, join, startCompany } from "../support/members.ts";
import { type Person, register, sealed } from "../support/people.ts";
import { proofOf, protect, wrongProof } from "../support/proofs.ts";
import { startAuthSm } from "../support/service.ts";

const service = await startAuthSm(t);
const { observer } = service;
const { travel } = observer;
const company = await startCompany(service);
const { owner, admin, member, orgId, strangersOrgId } = company;

const path = "/api/account/travel-mode";
const show = ({ token }: Person) => call(service, "GET", path, { token });
const put = ({ token }: Person, body: object, headers = {}) => call(service, "PUT", path, { token, body, headers });
const switchOf = ({ token }: Person, userId: string, enabled: boolean, headers = {}) =>
  call(service, "PUT", `/api/org/members/${userId}/travel-mode`, { token, body: { enabled }, headers });
const isOn = ({ userId }: Person): boolean => travel.modes.get(userId)?.enabled ?? false;
const recordsOf = ({ userId }: Person) =>
  observer.records.filter(({ action, target }) => action.startsWith("user.travel_mode.") && target.id === userId);
/** Runs `work` while vaults sets nothing. */
async function whileAway(work: () => Promise<void>): Promise<void> {
  travel.refusal = new ServiceError("unavailable", "vaults is away");
  await work().finally(() => (travel.refusal = null));
}

await t.test("a person who never used travel mode has it off since the epoch", async (t) => {
  const person = await register(service);
  const answer = await show(person);
  t.equal(answer.status, 200);
  t.strictSame(answer.body, { enabled: false, updated_at: "1970-01-01T00:00:00.000000Z" });
});

await t.test("every person turns it on without a proof; a repetition has no effect", async (t) => {
  const person = await register(service);
  const on = await put(person, { enabled: true });
  t.equal(on.status, 200);
  t.strictSame(Object.keys(on.body).sort(), ["enabled", "updated_at"]);
  t.strictSame((await show(person)).body, on.body);
  t.strictSame((await put(person, { enabled: true })).body, on.body);
  t.strictSame((await put(person, { enabled: true, login_id: "x", finish_login_request: "y" })).body, on.body);
  t.match(recordsOf(person), [
    {
      org_id: null,
      action: "user.travel_mode.enabled",
      actor: { type: "user", id: person.userId, session_id: person.sessionId },
      outcome: "success",
      request: { route: path, method: "PUT", status: 200 },
    },
  ]);
  t.equal(recordsOf(person).length, 1);
});

await t.test("vaults gets the session of the switch, and when it has ended the answer is that", async (t) => {
  const person = await register(service);
  await join(service, orgId, person, "member");
  travel.refusal = new ServiceError("invalid_token", "the session has ended");
  for (const [who, answer] of [
    [person, await put(person, { enabled: true })],
    [admin, await switchOf(admin, person.userId, true)],
  ] as const) {
    t.strictSame([answer.status, answer.body.error], [401, "invalid_token"]);
    t.ok(travel.sessions.has(who.sessionId));
  }
  travel.refusal = null;
  t.notOk(isOn(person));
});

await t.test("turning it off takes a fresh proof of the password", async (t) => {
  const person = await register(service);
  await put(person, { enabled: true });
  const another = await proofOf(service, owner);
  const wrong = { ...(await proofOf(service, person)), finish_login_request: wrongProof };
  for (const proof of [{}, { login_id: randomUUID(), finish_login_request: wrongProof }, wrong, another]) {
    const answer = await put(person, { enabled: false, ...proof });
    t.equal(answer.status, 403);
    t.equal(answer.body.error, "reauth_required");
  }
  t.ok(isOn(person));
  const denied = await observer.record(
    "the refusal",
    ({ outcome, target }) => outcome === "denied" && target.id === person.userId,
  );
  t.match(denied, { action: "user.travel_mode.disabled", reason: "reauth_required", org_id: null });
  const proof = await proofOf(service, person);
  const off = await put(person, { enabled: false, ...proof });
  t.equal(off.status, 200);
  t.match(off.body, { enabled: false });
  t.notOk(isOn(person));
  t.equal((await put(person, { enabled: false, ...proof })).status, 403, "a proof is good once");
  t.equal((await show(person)).status, 200, "the session goes on");
});

await t.test("and the second factor where there is one", async (t) => {
  const person = await protect(service);
  await put(person, { enabled: true });
  const proof = await proofOf(service, person);
  const without = await put(person, { enabled: false, ...proof });
  t.equal(without.status, 403);
  t.match(without.body.details, [{ field: "otp" }]);
  t.ok(isOn(person));
  const [code = ""] = person.recoveryCodes;
  t.equal((await put(person, { enabled: false, ...proof, otp: code })).status, 200);
  t.notOk(isOn(person));
});

await t.test("it is on record in each of the person's organizations", async (t) => {
  const person = await register(service);
  await join(service, orgId, person, "member");
  await join(service, strangersOrgId, person, "auditor", "suspended");
  await put(person, { enabled: true });
  t.strictSame(
    recordsOf(person)
      .map(({ org_id }) => org_id)
      .sort(),
    [orgId, strangersOrgId].sort(),
  );
});

await t.test("while vaults does not answer nothing changes, and the proof stays good", async (t) => {
  const person = await register(service);
  await whileAway(async () => {
    const answer = await put(person, { enabled: true });
    t.equal(answer.status, 503);
    t.equal(answer.body.error, "unavailable");
    t.equal((await switchOf(owner, member.userId, true)).status, 503);
  });
  t.notOk(isOn(person) || isOn(member));
  await put(person, { enabled: true });
  const proof = await proofOf(service, person);
  await whileAway(async () => {
    const before = travel.asked;
    t.equal((await put(person, { enabled: false, ...proof })).status, 503);
    t.equal(travel.asked, before + 1);
  });
  t.ok(isOn(person));
  t.equal((await put(person, { enabled: false, ...proof })).status, 200);
});

await t.test("vaults gets a deadline, well before the caller reports a failure", async (t) => {
  const person = await register(service);
  const began = service.clock.now().getTime();
  t.equal((await put(person, { enabled: true })).status, 200);
  const given = Date.parse(travel.until ?? "");
  t.ok(given >= began + 6_000, "six seconds");
  t.ok(given <= service.clock.now().getTime() + 6_000, "of the eight for which it waits");
});

await t.test("vaults may take as long as it waits for concurrent changes of the same vaults", async (t) => {
  const person = await register(service);
  travel.held = sleep(5_000);
  t.match(await put(person, { enabled: true }), { status: 200, body: { enabled: true } });
  travel.held = Promise.resolve();
});

await t.test(
  "an owner or admin turns a member's on and off, which is on record in each of the member's organizations",
  async (t) => {
    const person = await register(service);
    await join(service, orgId, person, "member");
    await join(service, strangersOrgId, person, "member");
    const on = await switchOf(admin, person.userId, true);
    t.equal(on.status, 200);
    t.match(on.body, { enabled: true });
    t.ok(isOn(person));
    t.equal((await switchOf(owner, person.userId, false)).status, 200);
    t.notOk(isOn(person));
    const recorded = recordsOf(person).map(({ org_id, action, actor }) => [org_id, action, actor.id]);
    for (const org of [orgId, strangersOrgId]) {
      t.ok(recorded.some(([id, action, by]) => id === org && action?.endsWith(".enabled") && by === admin.userId));
      t.ok(recorded.some(([id, action, by]) => id === org && action?.endsWith(".disabled") && by === owner.userId));
    }
    t.equal(recorded.length, 4);
  },
);

await t.test("vaults gets the later of the manager's role and the member's membership", async (t) => {
  const { clock } = service;
  const person = await register(service);
  const colleague = await register(service);
  const joinAt = async (who: Person, role: "member" | "admin") => {
    const { body } = await invite(service, owner, { email: who.email, role });
    const before = clock.now().getTime();
    t.equal((await accept(service, who, body.token)).status, 200);
    return before;
  };
  const colleagueJoined = await joinAt(colleague, "member");
  const memberJoined = await joinAt(person, "member");
  t.ok(memberJoined >= colleagueJoined);
  t.equal((await switchOf(owner, person.userId, true)).status, 200);
  t.ok(Date.parse(travel.standingSince ?? "") >= memberJoined, "the member joined later than the owner");
  const promoted = clock.now().getTime();
  const role = (to: string) =>
    call(service, "PATCH", `/api/org/members/${colleague.userId}`, { token: owner.token, body: { role: to } });
  t.equal((await role("admin")).status, 200);
  t.equal((await switchOf(colleague, person.userId, true)).status, 200);
  const since = travel.standingSince ?? "";
  t.ok(Date.parse(since) >= promoted, "the role began later than the membership");
  t.equal((await role("admin")).status, 200);
  const suspension = { token: owner.token, body: { status: "suspended" } };
  t.equal((await call(service, "PATCH", `/api/org/members/${person.userId}`, suspension)).status, 200);
  t.equal((await switchOf(colleague, person.userId, true)).status, 200);
  t.equal(travel.standingSince, since, "a role that stays is as old as before");
  travel.refusal = new ServiceError("access_denied", "the member travels since before you had this role");
  const refused = await switchOf(colleague, person.userId, false, { "x-request-id": "too-young" });
  travel.refusal = null;
  t.strictSame([refused.status, refused.body.error], [403, "access_denied"]);
  t.match(await observer.record("the refusal", ({ request }) => request.id === "too-young"), {
    org_id: orgId,
    action: "user.travel_mode.disabled",
    outcome: "denied",
  });
});

await t.test(
  "while travelling an invitation is accepted with a fresh proof alone, on record in each organization",
  async (t) => {
    const person = await register(service);
    await join(service, strangersOrgId, person, "member");
    const { body: invitation } = await invite(service, owner, { email: person.email, role: "member" });
    const acceptWith = (proof: object) =>
      call(service, "POST", "/api/org/invites/accept", {
        token: person.token,
        body: { token: invitation.token, ...proof },
      });
    t.equal((await put(person, { enabled: true })).status, 200);
    for (const proof of [
      {},
      { ...(await proofOf(service, person)), finish_login_request: wrongProof },
      await proofOf(service, owner),
    ]) {
      const refused = await acceptWith(proof);
      t.strictSame([refused.status, refused.body.error], [403, "reauth_required"]);
    }
    const accepted = ({ action, target }: { action: string; target: { id: string | null } }) =>
      action === "org.member.accepted" && target.id === person.userId;
    const denied = await observer.record("the denial", (record) => accepted(record) && record.outcome === "denied");
    t.match(denied, { org_id: strangersOrgId, reason: "reauth_required", target: { parent_id: undefined } });
    const proof = await proofOf(service, person);
    t.equal((await acceptWith(proof)).status, 200);
    const records = await until("both chains have it", () => {
      const found = observer.records.filter((record) => accepted(record) && record.outcome === "success");
      return found.length === 2 && found;
    });
    t.strictSame(records.map(({ org_id }) => org_id).sort(), [orgId, strangersOrgId].sort());
    for (const record of records) t.match(record, { target: { parent_id: orgId }, actor: { id: person.userId } });
    t.equal((await put(person, { enabled: false, ...proof })).status, 403, "the proof is spent");
  },
);

await t.test("turning off one's own mode needs the proof, in every role", async (t) => {
  t.equal((await switchOf(admin, admin.userId, true)).status, 200);
  const refused = await switchOf(admin, admin.userId, false, { "x-request-id": "own" });
  t.equal(refused.status, 403);
  t.equal(refused.body.error, "reauth_required");
  t.ok(isOn(admin));
  const record = await observer.record("the refusal", ({ request }) => request.id === "own");
  t.match(record, { org_id: orgId, action: "user.travel_mode.disabled", outcome: "denied" });
});

await t.test("a machine is not affected when all its people travel, its maker among them", async (t) => {
  const { owner: maker, admin: colleague } = await startCompany(service);
  const folder = await createFolder(service, maker);
  const machine = await createMachine(service, maker, [{ folder_id: folder, permission: "write" }]);
  const ask = (method: string, at: string, body?: object) =>
    call(service, method, `/api/sm/v1/secrets${at}`, { token: bearer(machine), ...(body && { body }) });
  const secret = { folder_id: folder, record_type: "login", encrypted_payload: sealed(), wrapped_dek: sealed() };
  const before = await ask("POST", "", secret);
  t.equal(before.status, 201);
  for (const person of [maker, colleague]) {
    t.equal((await put(person, { enabled: true })).status, 200);
    t.ok(isOn(person));
  }
  t.match(await ask("GET", `/${before.body.uid}`), { status: 200, body: { data_encrypted: secret.encrypted_payload } });
  t.match(await ask("GET", ""), { status: 200, body: { data: [{ uid: before.body.uid }] } });
  t.equal((await ask("POST", "", secret)).status, 201);
});

await t.test("malformed fields are 400", async (t) => {
  for (const body of [{}, { enabled: "yes" }, { enabled: null }, [], { enabled: false, login_id: 1 }]) {
    t.equal((await put(member, body)).status, 400, JSON.stringify(body));
    if (!("login_id" in body)) {
      const at = `/api/org/members/${member.userId}/travel-mode`;
      t.equal((await call(service, "PUT", at, { token: owner.token, body })).status, 400, JSON.stringify(body));
    }
  }
  t.equal((await switchOf(owner, "x", true)).status, 404);
});

await t.test("without the bus travel mode changes for no one", async (t) => {
  await service.nats.kill();
  for (const answer of [
    await show(member),
    await put(member, { enabled: true }),
    await switchOf(owner, member.userId, true),
  ]) {
    t.equal(answer.status, 503);
    t.match(answer.headers.get("retry-after"), /^\d+$/);
  }
  t.notOk(isOn(member));
});
