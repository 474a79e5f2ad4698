import { generateKeyPairSync, randomUUID, sign } from "node:crypto";
import { checkedFetch } from "@coffer/openapi";
import t from "tap";
import { routes } from "../src/routes.ts";
import { draftsOf } from "./delivery/draft.ts";
import { startForwarder, startStores } from "./forwarder.ts";
import { issuer } from "./people.ts";

// Every route, asked by every kind of caller about our organization and about another one. An empty
// table for a route, or a caller without a mark, is a failure: who adds one says here what each
// may.

const { url, people, append } = await startForwarder(t, await startStores(t));
const [ours, foreign] = [randomUUID(), randomUUID()];
await append([...draftsOf(ours, 1), ...draftsOf(foreign, 1)]);

const callers = {
  nobody: undefined,
  owner: await people.add([{ orgId: ours, role: "owner" }]),
  admin: await people.add([{ orgId: ours, role: "admin" }]),
  auditor: await people.add([{ orgId: ours, role: "auditor" }]),
  member: await people.add([{ orgId: ours, role: "member" }]),
  suspended: await people.add([{ orgId: ours, role: "owner", status: "suspended" }]),
  // Who was invited and has not accepted, or was removed, is a member of nothing here.
  invited: await people.add([]),
  "owner of another": await people.add([{ orgId: foreign, role: "owner" }]),
  "logged out": await people.add([{ orgId: ours, role: "owner" }]),
  machine: { token: machineToken() },
};
people.end(callers["logged out"]);

/** As a machine signs it, of our organization, of another or revoked: here its key is never asked for. */
function machineToken(): string {
  const { privateKey } = generateKeyPairSync("ec", { namedCurve: "P-256" });
  const now = Math.floor(Date.now() / 1000);
  const claims = { iss: randomUUID(), aud: issuer, iat: now, exp: now + 300, jti: randomUUID() };
  const text = [
    { alg: "ES256", typ: "JWT" },
    { ...claims, sub: claims.iss },
  ]
    .map((part) => Buffer.from(JSON.stringify(part)).toString("base64url"))
    .join(".");
  const key = { key: privateKey, dsaEncoding: "ieee-p1363" } as const;
  return `${text}.${sign("sha256", Buffer.from(text), key).toString("base64url")}`;
}

type Statuses = Readonly<Record<keyof typeof callers, number>>;
const outside = { nobody: 401, "logged out": 401, machine: 401, invited: 404 };
interface Table {
  ours: Statuses;
  foreign: Statuses;
  unnamed: Statuses;
}

/** What each caller is answered: `allowed` is the answer to who may, `auditor` that to an auditor. */
function table(allowed: number, auditor: number): Table {
  const inside = { owner: allowed, admin: allowed, auditor, member: 403, suspended: 403 };
  const none = { owner: 403, admin: 403, auditor: 403, member: 403, suspended: 403 };
  return {
    ours: { ...outside, ...inside, "owner of another": 403 },
    foreign: { ...outside, ...none, "owner of another": allowed },
    unnamed: { ...outside, ...inside, "owner of another": allowed },
  };
}

const bodies: Readonly<Record<string, object>> = {
  "POST /api/org/siem/webhooks": {
    format: "hec",
    url: "https://siem.invalid/",
    credentials: { token: "x" },
    enabled: false,
  },
  "PATCH /api/org/siem/webhooks/:id": { enabled: false },
};

// The endpoint that requests name does not exist.
const expectations: Readonly<Record<string, Table>> = {
  "GET /api/org/audit": table(200, 200),
  "GET /api/org/siem/webhooks": table(200, 200),
  "POST /api/org/siem/webhooks": table(201, 403),
  "PATCH /api/org/siem/webhooks/:id": table(404, 403),
  "POST /api/org/siem/webhooks/:id/test": table(404, 403),
  "DELETE /api/org/siem/webhooks/:id": table(404, 403),
};

await t.test("every route has its table, and no other does", (t) => {
  t.same(
    routes.map(({ method, path }) => `${method} ${path}`),
    Object.keys(expectations),
  );
  t.end();
});

for (const { method, path } of routes) {
  const wanted = expectations[`${method} ${path}`];
  for (const [org, statuses] of Object.entries<Statuses>({ ...wanted })) {
    await t.test(`${method} ${path}: ${org}`, async (t) => {
      for (const [name, caller] of Object.entries(callers)) {
        const headers: Record<string, string> = caller === undefined ? {} : { authorization: `Bearer ${caller.token}` };
        if (org !== "unnamed") headers["x-coffer-org"] = org === "ours" ? ours : foreign;
        const body = bodies[`${method} ${path}`];
        if (body !== undefined) headers["content-type"] = "application/json";
        const sent = body === undefined ? {} : { body: JSON.stringify(body) };
        const answer = await checkedFetch(url + path.replace(":id", randomUUID()), { method, headers, ...sent });
        t.equal(answer.status, statuses[name as keyof typeof callers], name);
        const text = await answer.text();
        const own = name === "owner of another" ? foreign : ours;
        const other = own === ours ? foreign : ours;
        if (path === "/api/org/audit")
          t.equal(text.includes(own), answer.status === 200, `${name}: what is there, when it may be read`);
        t.notOk(text.includes(other), `${name}: never the other organization's`);
      }
    });
  }
}
