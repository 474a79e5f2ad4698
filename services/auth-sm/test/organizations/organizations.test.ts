import t from "tap";
import { call } from "../support/call.ts";
import { startCompany } from "../support/members.ts";
import { register } from "../support/people.ts";
import { startAuthSm } from "../support/service.ts";

const service = await startAuthSm(t);
const company = await startCompany(service);

const get = (path: string, token: string, org?: string) =>
  call(service, "GET", path, { token, headers: org === undefined ? {} : { "x-coffer-org": org } });

await t.test("POST /api/orgs makes an organization with the caller as its owner", async (t) => {
  const { token, userId, email } = await register(service);
  const answer = await call(service, "POST", "/api/orgs", { token, body: { name: "Mine" } });
  t.equal(answer.status, 201);
  t.strictSame(Object.keys(answer.body).sort(), ["created_at", "history_seq", "id", "name", "plan"]);
  t.match(answer.body, { name: "Mine", plan: "enterprise", created_at: /\.\d{6}Z$/ });
  t.strictSame((await get("/api/org", token)).body, answer.body);
  const members = await get("/api/org/members", token);
  t.match(members.body.data, [{ user_id: userId, name: email, email, role: "owner", status: "active" }]);
  const record = await service.observer.record("the founding", ({ org_id }) => org_id === answer.body.id);
  t.match(record, { action: "org.member.accepted", request: { route: "/api/orgs", status: 201 } });
});

await t.test("an organization's name has 1 to 128 characters and is kept as it was sent", async (t) => {
  const { token } = await register(service);
  const make = (name: unknown) => call(service, "POST", "/api/orgs", { token, body: { name } });
  for (const name of [undefined, "", 7, "n".repeat(129), "a\nb"]) t.equal((await make(name)).status, 400, String(name));
  for (const name of ["x", "😀".repeat(128), " spaced "]) {
    const answer = await make(name);
    t.equal(answer.status, 201);
    t.equal(answer.body.name, name);
  }
});

await t.test("X-Coffer-Org chooses; without it the oldest membership", async (t) => {
  const { token } = await register(service, { orgName: "First" });
  const second = await call(service, "POST", "/api/orgs", { token, body: { name: "Second" } });
  t.equal((await get("/api/org", token)).body.name, "First");
  t.equal((await get("/api/org", token, second.body.id)).body.name, "Second");
});

await t.test("an organization that one is no member of is 403, a malformed one too", async (t) => {
  const { owner, strangersOrgId } = company;
  const named = [strangersOrgId, "00000000-0000-7000-8000-000000000000", "", "x", `${company.orgId}x`, "'", "null"];
  for (const org of named) {
    for (const path of ["/api/org", "/api/org/members", "/api/org/folders", "/api/org/applications"]) {
      const answer = await get(path, owner.token, org);
      t.equal(answer.status, 403, `${path} in ${org}`);
      t.equal(answer.body.error, "access_denied");
    }
    t.equal((await get("/api/account", owner.token, org)).status, 200, "the account is in no organization");
  }
});

await t.test("without any organization all of /api/org is 404, with any header", async (t) => {
  const { token } = await register(service);
  for (const path of ["/api/org", "/api/org/members", "/api/org/folders", "/api/org/applications"]) {
    for (const org of [undefined, company.orgId, "x"]) {
      const answer = await get(path, token, org);
      t.equal(answer.status, 404, path);
      t.match(answer.body.message, "create one, or accept an invitation");
      t.equal(answer.body.error, "not_found");
    }
  }
  const made = await call(service, "POST", "/api/org/folders", { token, body: { name: "f", encrypted_key: "AAAA" } });
  t.equal(made.status, 404);
});

await t.test("every active member sees the organization and who is in it, a suspended one nothing", async (t) => {
  const { owner, admin, auditor, member, suspended } = company;
  for (const { token } of [owner, admin, auditor, member]) {
    t.match((await get("/api/org", token)).body, { id: company.orgId, name: "Company" });
    const { body } = await get("/api/org/members", token);
    t.strictSame(
      body.data.map(({ user_id, role, status }) => [user_id, role, status]),
      [
        [owner.userId, "owner", "active"],
        [admin.userId, "admin", "active"],
        [auditor.userId, "auditor", "active"],
        [member.userId, "member", "active"],
        [suspended.userId, "admin", "suspended"],
      ],
    );
    t.strictSame(Object.keys(body.data[0] ?? {}).sort(), ["email", "joined_at", "name", "role", "status", "user_id"]);
  }
  t.equal((await get("/api/org", suspended.token)).status, 403);
  t.equal((await get("/api/org/members", suspended.token)).status, 403);
  t.match((await get("/api/account", suspended.token)).body.organizations, [{ status: "suspended" }]);
});

await t.test("every endpoint of people authenticates its caller", async (t) => {
  const id = "00000000-0000-7000-8000-000000000000";
  const endpoints: [string, string][] = [
    ["GET", "/api/account"],
    ["POST", "/api/auth/logout"],
    ["POST", "/api/orgs"],
    ["GET", "/api/org"],
    ["GET", "/api/org/members"],
    ["PATCH", `/api/org/members/${id}`],
    ["DELETE", `/api/org/members/${id}`],
    ["GET", `/api/org/members/${id}/sessions`],
    ["DELETE", `/api/org/members/${id}/sessions`],
    ["DELETE", `/api/org/members/${id}/sessions/${id}`],
    ["GET", "/api/org/invites"],
    ["POST", "/api/org/invites"],
    ["DELETE", `/api/org/invites/${id}`],
    ["GET", "/api/org/folders"],
    ["POST", "/api/org/folders"],
    ["PATCH", `/api/org/folders/${id}`],
    ["DELETE", `/api/org/folders/${id}`],
    ["GET", `/api/org/folders/${id}/members`],
    ["GET", "/api/org/applications"],
    ["POST", "/api/org/applications"],
    ["PATCH", `/api/org/applications/${id}`],
    ["DELETE", `/api/org/applications/${id}`],
    ["GET", `/api/org/applications/${id}/clients`],
    ["DELETE", `/api/org/applications/${id}/clients/${id}`],
    ["PUT", `/api/org/applications/${id}/clients/${id}/folders/${id}`],
    ["DELETE", `/api/org/applications/${id}/clients/${id}/folders/${id}`],
    ["GET", `/api/org/applications/${id}/tokens`],
    ["POST", `/api/org/applications/${id}/tokens`],
    ["DELETE", `/api/org/applications/${id}/tokens/${id}`],
  ];
  for (const [method, path] of endpoints) {
    const body = method === "POST" || method === "PUT" || method === "PATCH" ? "not even JSON" : undefined;
    const answer = await call(service, method, path, { body });
    t.equal(answer.status, 401, `${method} ${path}`);
    t.equal(answer.body.error, "invalid_token");
    t.match(answer.headers.get("ratelimit-policy"), /^"user";/);
  }
});
