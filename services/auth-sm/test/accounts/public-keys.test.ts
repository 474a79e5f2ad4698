import { fingerprint } from "@coffer/crypto";
import t from "tap";
import { call } from "../support/call.ts";
import { execute, join, startCompany } from "../support/members.ts";
import { type Person, register } from "../support/people.ts";
import { startAuthSm } from "../support/service.ts";

const service = await startAuthSm(t);
const { owner, admin, auditor, member, suspended, stranger, orgId, strangersOrgId } = await startCompany(service);
const ask = ({ token }: Person, id: string, org?: string) =>
  call(service, "GET", `/api/users/${id}/public_key`, {
    token,
    headers: org === undefined ? {} : { "x-coffer-org": org },
  });

await t.test("a member's public key comes with the fingerprint that clients compute", async (t) => {
  const answer = await ask(member, owner.userId);
  t.equal(answer.status, 200);
  const [row] = (await execute(service, "SELECT public_key FROM auth_sm.users WHERE id = $1", [owner.userId])) as {
    public_key: string;
  }[];
  const publicKey = row?.public_key ?? "";
  t.strictSame(answer.body, { public_key: publicKey, fingerprint: (await fingerprint(publicKey)).hex });
  t.match(answer.headers.get("ratelimit-policy"), /^"user";/);
});

await t.test("members of an organization read each other's keys, and others do not", async (t) => {
  for (const caller of [owner, admin, auditor, member]) {
    for (const { userId } of [owner, member, suspended, caller]) t.equal((await ask(caller, userId)).status, 200);
    for (const id of [stranger.userId, "00000000-0000-7000-8000-000000000000", "x"]) {
      const answer = await ask(caller, id);
      t.equal(answer.status, 404);
      t.equal(answer.body.error, "not_found");
    }
  }
  t.equal((await ask(stranger, owner.userId)).status, 404);
  t.equal((await ask(suspended, owner.userId)).status, 404, "the suspended have no rights");
  t.equal((await ask(await register(service), owner.userId)).status, 404, "without any organization");
  t.equal((await call(service, "GET", `/api/users/${owner.userId}/public_key`)).status, 401);
});

await t.test("of several organizations all are meant, or the one that is named", async (t) => {
  const person = await register(service);
  await join(service, orgId, person, "member");
  await join(service, strangersOrgId, person, "member");
  for (const { userId } of [owner, stranger]) t.equal((await ask(person, userId)).status, 200);
  t.equal((await ask(person, owner.userId, orgId)).status, 200);
  t.equal((await ask(person, owner.userId, strangersOrgId)).status, 404);
  t.equal((await ask(owner, owner.userId, strangersOrgId)).status, 403, "not a member of it");
  await join(service, orgId, person, "member", "suspended");
  t.equal((await ask(person, owner.userId)).status, 404);
  t.equal((await ask(person, owner.userId, orgId)).status, 403);
  t.equal((await ask(person, stranger.userId)).status, 200);
});
