import t from "tap";
import { call } from "../support/call.ts";
import { execute } from "../support/members.ts";
import { device, logIn, newEmail, register, registration, sealed } from "../support/people.ts";
import { startAuthSm } from "../support/service.ts";

const service = await startAuthSm(t);
const start = "/api/auth/register/start";
const finish = "/api/auth/register/finish";

await t.test("register/finish answers 201 with a session and everything that the device needs", async (t) => {
  const body = await registration(service, { email: newEmail() });
  const answer = await call(service, "POST", finish, { body: { ...body, name: "Ada" } });
  t.equal(answer.status, 201);
  const { user, access_token, refresh_token, session_id, device_credential, ...rest } = answer.body;
  t.match(user, { email: body.email, name: "Ada", id: /^[0-9a-f-]{36}$/, created_at: /^\d{4}-.*\.\d{6}Z$/ });
  t.match(refresh_token, /^cfs1_[\w-]{91}$/);
  t.match(session_id, /^[0-9a-f-]{36}$/);
  t.match(device_credential, /^cfd1_[\w-]{43}$/);
  t.strictSame(rest, {
    token_type: "Bearer",
    expires_in: 900,
    refresh_expires_in: 30 * 24 * 60 * 60,
    encrypted_user_key: body.encrypted_user_key,
    public_key: body.public_key,
    encrypted_private_key: body.encrypted_private_key,
  });
  const account = await call(service, "GET", "/api/account", { token: access_token });
  t.equal(account.status, 200);
  t.strictSame(account.body, { user, totp_enabled: false, organizations: [] });
});

await t.test("org_name makes an organization of which the person is the owner", async (t) => {
  const owner = await register(service, { orgName: "Example" });
  const account = await call(service, "GET", "/api/account", { token: owner.token });
  t.match(account.body.organizations, [{ name: "Example", role: "owner", status: "active" }]);
  const [{ id }] = account.body.organizations;
  const org = await call(service, "GET", "/api/org", { token: owner.token });
  t.match(org.body, { id, name: "Example", plan: "enterprise", created_at: /Z$/ });
  const founded = await service.observer.record("the first record", (record) => record.org_id === id);
  t.match(founded, {
    action: "org.member.accepted",
    actor: { type: "user", id: owner.userId, session_id: owner.sessionId },
    target: { type: "user", id: owner.userId, parent_id: id },
    changes: { role: "owner" },
  });
  const registered = await service.observer.record(
    "the registration",
    ({ action, org_id }) => action === "user.registered" && org_id === id,
  );
  t.match(registered, { outcome: "success", request: { route: finish, method: "POST", status: 201 } });
});

await t.test("a registration without an organization is recorded once, in the person's own chain", async (t) => {
  const { userId } = await register(service);
  const record = await service.observer.record("the registration", ({ actor }) => actor.id === userId);
  t.match(record, { org_id: null, action: "user.registered", target: { type: "user", id: userId } });
});

await t.test("a person without a name is called by the e-mail", async (t) => {
  const { token, email } = await register(service);
  const account = await call(service, "GET", "/api/account", { token });
  t.equal(account.body.user.name, email);
});

await t.test("an e-mail has one account, in any spelling", async (t) => {
  const { email } = await register(service, { email: `first.${newEmail()}` });
  for (const spelling of [email.toUpperCase(), `  ${email}\t`, email.replace("first", "ﬁrst")]) {
    const body = await registration(service, { email: spelling });
    const answer = await call(service, "POST", finish, { body });
    t.equal(answer.status, 409, spelling);
    t.equal(answer.body.error, "conflict");
  }
});

await t.test("register/start answers a taken e-mail like a free one", async (t) => {
  const { email } = await register(service);
  const body = await registration(service, { email });
  t.equal((await call(service, "POST", finish, { body })).status, 409);
});

await t.test("one start allows five attempts to finish it, also of 20 at once, and gives one account", async (t) => {
  const body = await registration(service, {});
  const answers = await Promise.all(Array.from({ length: 20 }, () => call(service, "POST", finish, { body })));
  const statuses = answers.map(({ status }) => status).sort();
  t.strictSame(statuses, [201, ...Array<number>(15).fill(400), ...Array<number>(4).fill(409)]);
});

await t.test("a start allows five attempts with any failure; the next start counts from zero", async (t) => {
  const { email } = await register(service);
  const body = await registration(service, { email });
  const attempt = (change: object = {}) => call(service, "POST", finish, { body: { ...body, ...change } });
  for (const change of [{ registration_record: "AAAA" }, { public_key: "AAAA" }])
    t.equal((await attempt(change)).status, 400);
  t.equal((await attempt({ invite_token: "x" })).status, 404);
  t.equal((await attempt()).status, 409);
  t.equal((await attempt()).status, 409);
  const sixth = await attempt();
  t.equal(sixth.status, 400);
  t.match(sixth.body.message, /start again/);
  const again = await registration(service, { email });
  t.equal((await call(service, "POST", finish, { body: again })).status, 409);
});

await t.test(
  "a finish without a start is refused before OPAQUE or an invitation is looked at, and leaves nothing",
  async (t) => {
    const { email } = await register(service);
    const other = await registration(service, {});
    const count = () =>
      execute(
        service,
        `SELECT (SELECT count(*) FROM auth_sm.registration_starts) AS starts, (SELECT count(*) FROM auth_sm.users) AS users,
         (SELECT sum(attempts) FROM auth_sm.registration_starts) AS attempts`,
      );
    const before = await count();
    for (const change of [{}, { registration_record: "AAAA" }, { invite_token: "x" }, { public_key: "AAAA" }])
      for (const stranger of [newEmail(), `x${email}`]) {
        const answer = await call(service, "POST", finish, { body: { ...other, email: stranger, ...change } });
        t.equal(answer.status, 400);
        t.match(answer.body.message, /^there is no pending start/);
      }
    t.same(await count(), before);
  },
);

await t.test("a person who registered can log in with any spelling of the e-mail", async (t) => {
  const { email, password, userId } = await register(service);
  const again = await logIn(service, { email: ` ${email.toUpperCase()} `, password });
  t.equal(again.userId, userId);
});

await t.test("missing or malformed fields are 400 and make no account", async (t) => {
  const body = await registration(service, {});
  const wrong: Record<string, unknown>[] = [
    { email: undefined },
    { email: "" },
    { email: "nobody" },
    { email: "@example.com" },
    { email: "a b@example.com" },
    { email: "a\u0000@example.com" },
    { email: `${"a".repeat(243)}@example.com` },
    { name: "" },
    { name: "n".repeat(129) },
    { registration_record: undefined },
    { registration_record: "AAAA" },
    { registration_record: `${body.registration_record}AAAA` },
    { registration_record: Buffer.alloc(192, 255).toString("base64url") },
    { public_key: "AAAA" },
    { encrypted_user_key: "" },
    { encrypted_user_key: "no base64!" },
    { encrypted_private_key: undefined },
    { recovery: { proof_hash: "00", encrypted_user_key: sealed() } },
    { recovery: { proof_hash: "0".repeat(64) } },
    { org_name: "" },
    { org_name: "o".repeat(129) },
    { device: undefined },
    { device: { ...device, id: "" } },
    { device: { ...device, name: "d".repeat(129) } },
    { device: { ...device, type: "t".repeat(65) } },
  ];
  for (const change of wrong) {
    const answer = await call(service, "POST", finish, { body: { ...body, ...change } });
    t.equal(answer.status, 400, JSON.stringify(change).slice(0, 80));
    t.equal(answer.body.error, "invalid_request");
  }
  t.equal((await call(service, "POST", finish, { body })).status, 201, "the same e-mail is still free");
});

await t.test("a key of 12 KiB is stored; a body over the 16 KiB of anonymous requests is 413", async (t) => {
  const body = await registration(service, {});
  const longest = sealed(9 * 1024);
  const over = { ...body, encrypted_user_key: sealed(12 * 1024) };
  const refused = await call(service, "POST", finish, { body: over });
  t.equal(refused.status, 413);
  t.equal(refused.body.error, "payload_too_large");
  const most = { ...body, encrypted_user_key: longest, name: "n".repeat(128), org_name: "o".repeat(128) };
  const answer = await call(service, "POST", finish, { body: most });
  t.equal(answer.status, 201);
  t.equal(answer.body.encrypted_user_key, longest);
});

await t.test("an e-mail of 254 characters is accepted", async (t) => {
  const email = `${"a".repeat(200)}.${newEmail()}`.padStart(254, "b");
  t.equal(email.length, 254);
  t.equal((await register(service, { email })).email, email);
});

await t.test("register/start refuses an invalid OPAQUE message", async (t) => {
  for (const registration_request of [undefined, "", "AAAA", "!", Buffer.alloc(32, 255).toString("base64url")]) {
    const answer = await call(service, "POST", start, { body: { email: newEmail(), registration_request } });
    t.equal(answer.status, 400, String(registration_request));
  }
});

await t.test("while signups are closed no registration succeeds", async (t) => {
  const closed = await service.replica({ COFFER_SIGNUPS: "closed" });
  const body = await registration(service, {});
  const request = { email: body.email, registration_request: "A".repeat(43) };
  for (const answer of [
    await call(closed, "POST", start, { body: request }),
    await call(closed, "POST", finish, { body }),
    await call(closed, "POST", finish, { body: { ...body, invite_token: "x" } }),
  ]) {
    t.equal(answer.status, 403);
    t.equal(answer.body.error, "registration_closed");
  }
});

await t.test(
  "what begins with nothing but an e-mail is in the strict bucket, the rest of the way in the user's",
  async (t) => {
    const buckets = {
      strict: ["register/start", "login/start", "recovery/start"],
      user: ["register/finish", "login/finish", "recovery/finish", "refresh", "logout"],
    };
    for (const [bucket, endpoints] of Object.entries(buckets)) {
      for (const endpoint of endpoints) {
        const { headers } = await call(service, "POST", `/api/auth/${endpoint}`, { body: {} });
        t.match(headers.get("ratelimit-policy"), new RegExp(`^"${bucket}";`), endpoint);
      }
    }
  },
);
