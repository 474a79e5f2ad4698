import t from "tap";
import { call } from "../support/call.ts";
import { accept, invite } from "../support/members.ts";
import { register, registration } from "../support/people.ts";
import { startAuthSm } from "../support/service.ts";

// The limits that an installation has, and all requests from one address.
const limits = { COFFER_LIMIT_STRICT: "5", COFFER_LIMIT_STANDARD: "60", COFFER_LIMIT_USER: "300" };
const service = await startAuthSm(t, limits);
const start = "/api/auth/register/start";
const finish = "/api/auth/register/finish";

await t.test("twenty people behind one address register and join within ten minutes", async (t) => {
  const owner = await register(service, { orgName: "Example" });
  const invited = async (email: string) => (await invite(service, owner, { email, role: "member" })).body.token;
  // One registers with the invitation, another one registers first and accepts it then.
  const body = await registration(service, {});
  const joined = { ...body, invite_token: await invited(body.email) };
  t.equal((await call(service, "POST", finish, { body: joined })).status, 201);
  const second = await register(service);
  t.equal((await accept(service, second, await invited(second.email))).status, 200);
  const { headers } = await call(service, "POST", start, { body: {} });
  const [, most = "", seconds = ""] = /^"strict";q=(\d+);w=(\d+)$/.exec(headers.get("ratelimit-policy") ?? "") ?? [];
  const left = /^"strict";r=(\d+);/.exec(headers.get("ratelimit") ?? "")?.[1];
  // Without the owner's registration and this request.
  const eachPerson = (Number(most) - Number(left) - 2) / 2;
  t.equal(eachPerson, 1, "one strict request for each person");
  // A client that waits as Retry-After says is let in when the oldest request leaves the window.
  const windows = Math.ceil((20 * eachPerson) / Number(most)) - 1;
  t.ok(windows * Number(seconds) <= 600, `${windows} windows of ${seconds} s`);
});
