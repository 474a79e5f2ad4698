import { randomUUID } from "node:crypto";
import { checkedFetch } from "@coffer/openapi";
import t from "tap";
import { routes } from "../src/routes.ts";
import { startScanner } from "./scanner.ts";

// Every route, asked by every kind of caller in the name of our organization, of another one and of
// none. A route without a table, or a caller without a status, is a failure.

const { url, authSm, audit } = await startScanner(t);
const [ours, foreign] = [randomUUID(), randomUUID()];

const callers = {
  nobody: undefined,
  member: await authSm.person({ orgId: ours }),
  suspended: await authSm.person({ orgId: ours, status: "suspended" }),
  "without an organization": await authSm.person(),
  "member of another": await authSm.person({ orgId: foreign }),
  "logged out": await authSm.person({ orgId: ours }),
  machine: authSm.machine(ours),
  "machine of another": authSm.machine(foreign),
  "machine from a forbidden address": authSm.deniedMachine(),
  "unknown machine": { token: randomUUID() },
};
authSm.end(callers["logged out"]);

type Statuses = Readonly<Record<keyof typeof callers, number>>;
const always = {
  nobody: 401,
  "machine from a forbidden address": 403,
  "unknown machine": 401,
};

const expectations: Readonly<Record<string, Readonly<Record<"ours" | "foreign" | "unnamed", Statuses>>>> = {
  "POST /api/scanner/scan": {
    ours: {
      ...always,
      machine: 200,
      "machine of another": 403,
      member: 200,
      suspended: 403,
      "without an organization": 403,
      "member of another": 403,
      "logged out": 401,
    },
    foreign: {
      ...always,
      machine: 403,
      "machine of another": 200,
      member: 403,
      suspended: 403,
      "without an organization": 403,
      "member of another": 200,
      "logged out": 401,
    },
    unnamed: {
      ...always,
      machine: 200,
      "machine of another": 200,
      member: 200,
      suspended: 403,
      "without an organization": 200,
      "member of another": 200,
      "logged out": 401,
    },
  },
  // The rules are no organization's. That the session has ended is heard on other ways, which other
  // tests are about.
  "GET /api/scanner/rules": {
    ours: everyone(),
    foreign: everyone(),
    unnamed: everyone(),
  },
};

function everyone(): Statuses {
  const people = { member: 200, suspended: 200, "without an organization": 200, "member of another": 200 };
  return { ...always, ...people, machine: 200, "machine of another": 200, "logged out": 200 };
}

await t.test("every route has its table, and no other does", (t) => {
  t.same(
    routes.map(({ method, path }) => `${method} ${path}`),
    Object.keys(expectations),
  );
  t.end();
});

for (const { method, path } of routes) {
  for (const [org, statuses] of Object.entries<Statuses>({ ...expectations[`${method} ${path}`] })) {
    await t.test(`${method} ${path}: ${org}`, async (t) => {
      for (const [name, caller] of Object.entries(callers)) {
        const id = randomUUID();
        const headers: Record<string, string> = { "x-request-id": id };
        if (caller !== undefined) headers["authorization"] = `Bearer ${caller.token}`;
        if (org !== "unnamed") headers["x-coffer-org"] = org === "ours" ? ours : foreign;
        if (method === "POST") headers["content-type"] = "application/json";
        const sent = method === "POST" ? { body: JSON.stringify({ documents: [] }) } : {};
        const answer = await checkedFetch(url + path, { method, headers, ...sent });
        const wanted = statuses[name as keyof typeof callers];
        t.equal(answer.status, wanted, name);
        await answer.text();
        const records = audit.records.filter(({ request }) => request.id === id);
        const isIdentified = caller !== undefined && ("userId" in caller || "clientId" in caller);
        if (method === "GET" || wanted === 401 || !isIdentified) t.same(records, [], `${name}: no record`);
        else {
          const own = { member: ours, machine: ours, "member of another": foreign, "machine of another": foreign }[
            name
          ];
          // A person who is denied acts in no organization.
          const orgId = wanted === 403 && "userId" in caller ? null : (own ?? null);
          const outcome = wanted === 403 ? "denied" : "success";
          t.match(records, [{ action: "scanner.scanned", org_id: orgId, outcome }], `${name}: its record`);
          t.equal(records.length, 1);
        }
      }
    });
  }
}

await t.test(
  "a machine is identified by the address that it calls from, and a forged token of a person is no person's",
  async (t) => {
    t.ok(authSm.asked.length > 0 && authSm.asked.every((ip) => ip === "127.0.0.1" || ip === "::1"));
    const [head = "", claims = ""] = callers.member.token.split(".");
    const expired = await authSm.sign(callers.member, -1);
    const before = authSm.asked.length;
    for (const token of [`${head}.${claims}.AAAA`, expired]) {
      const answer = await checkedFetch(`${url}/api/scanner/rules`, { headers: { authorization: `Bearer ${token}` } });
      t.equal(answer.status, 401);
      t.equal(answer.headers.get("www-authenticate"), "Bearer");
    }
    t.equal(authSm.asked.length, before, "auth-sm is not asked about them");
  },
);
