import t from "tap";
import { call } from "../support/call.ts";
import { join, type Role, startCompany } from "../support/members.ts";
import { logIn, type Person, register } from "../support/people.ts";
import { startAuthSm } from "../support/service.ts";

const service = await startAuthSm(t);
const { owner, orgId } = await startCompany(service);
const base = "/api/org/members";

const change = ({ token }: Person, userId: string, body: unknown, org = orgId) =>
  call(service, "PATCH", `${base}/${userId}`, { token, body, headers: { "x-coffer-org": org } });
const remove = ({ token }: Person, userId: string, org = orgId) =>
  call(service, "DELETE", `${base}/${userId}`, { token, headers: { "x-coffer-org": org } });
const newMember = async (role: Role, status: "active" | "suspended" = "active"): Promise<Person> => {
  const person = await register(service);
  await join(service, orgId, person, role, status);
  return person;
};
const roleOf = async ({ userId }: Person) => {
  const { body } = await call(service, "GET", base, { token: owner.token });
  const found = body.data.find(({ user_id }) => user_id === userId);
  return found === undefined ? "gone" : `${found.role} ${found.status}`;
};

await t.test("there is always an owner who can act", async (t) => {
  const absent = await newMember("owner", "suspended");
  for (const body of [{ role: "admin" }, { status: "suspended" }, { role: "member", status: "suspended" }]) {
    const answer = await change(owner, owner.userId, body);
    t.equal(answer.status, 409, JSON.stringify(body));
    t.equal(answer.body.error, "conflict");
  }
  t.equal((await remove(owner, owner.userId)).status, 409);
  t.equal(await roleOf(owner), "owner active");
  t.equal((await change(owner, absent.userId, { role: "member" })).status, 200, "a suspended owner does not count");
  const second = await newMember("owner");
  t.equal((await change(owner, second.userId, { status: "suspended" })).status, 200);
  t.equal((await remove(owner, owner.userId)).status, 409);
  t.equal((await change(owner, second.userId, { status: "active" })).status, 200);
  const back = await logIn(service, second);
  t.equal((await remove(back, second.userId)).status, 204, "an owner leaves while another remains");
});

await t.test("two owners who leave, or demote or suspend each other, at once: one remains", async (t) => {
  type Act = (caller: Person, other: Person, org: string) => Promise<{ status: number }>;
  const acts: Record<string, Act> = {
    leave: (caller, _other, org) => remove(caller, caller.userId, org),
    remove: (caller, other, org) => remove(caller, other.userId, org),
    demote: (caller, other, org) => change(caller, other.userId, { role: "member" }, org),
    suspend: (caller, other, org) => change(caller, other.userId, { status: "suspended" }, org),
    "step down": (caller, _other, org) => change(caller, caller.userId, { role: "admin" }, org),
  };
  // Who has an organization left is not logged out.
  const [first, second] = [await register(service, { orgName: "A" }), await register(service, { orgName: "B" })];
  for (const [name, act] of Object.entries(acts)) {
    for (let round = 0; round < 5; round += 1) {
      const made = await call(service, "POST", "/api/orgs", { token: first.token, body: { name } });
      await join(service, made.body.id, second, "owner");
      const answers = await Promise.all([act(first, second, made.body.id), act(second, first, made.body.id)]);
      const done = answers.filter(({ status }) => status < 300).length;
      t.equal(done, 1, `${name}: ${answers.map(({ status }) => status).join(" ")}`);
      const survivors = [first, second].map(async ({ token }) => {
        const { body } = await call(service, "GET", "/api/account", { token });
        return body.organizations.filter(
          ({ id, role, status }) => id === made.body.id && role === "owner" && status === "active",
        );
      });
      t.equal((await Promise.all(survivors)).flat().length, 1, name);
    }
  }
});
