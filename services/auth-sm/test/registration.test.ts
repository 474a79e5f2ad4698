import t from "tap";
import { call } from "./support/call.ts";
import { device, logIn, newEmail, register, registration, sealed } from "./support/people.ts";
import { startAuthSm } from "./support/service.ts";

const service = await startAuthSm(t);
const finish = "/api/auth/register/finish";

await t.test("register/finish answers 201 with a session and everything that the device needs", async (t) => {
  const body = await registration(service, { email: newEmail() });
  const answer = await call(service, "POST", finish, { body: { ...body, name: "Ada" } });
  t.equal(answer.status, 201);
  const { user, access_token, refresh_token, session_id, ...rest } = answer.body;
  t.match(user, { email: body.email, name: "Ada", id: /^[0-9a-f-]{36}$/, created_at: /^\d{4}-.*\.\d{6}Z$/ });
  t.match(refresh_token, /^cfs1_[\w-]{91}$/);
  t.match(session_id, /^[0-9a-f-]{36}$/);
  t.match(access_token, /^eyJ/);
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
