import { randomBytes, randomUUID } from "node:crypto";
import { until } from "@coffer/testkit";
import { newKeyPair } from "@coffer/crypto";
import t from "tap";
import { routes } from "../src/routes.ts";
import { startWatched } from "./canaries/watched.ts";
import { call, type CallOptions } from "./support/call.ts";
import { check, entryOf, holder } from "./support/histories.ts";
import { execute } from "./support/held-vault.ts";
import type { Person } from "./support/people.ts";

// Sends canaries through every endpoint, in accepted and refused requests, and looks for them.

const service = await startWatched(t);
const { people, listeners } = service;

/** Every canary that was sent, with the column in which it may be stored. */
const canaries = new Map<string, string | null>();
const canary = (home: string | null = null): string => {
  const value = randomBytes(36).toString("base64");
  canaries.set(value, home);
  return value;
};
const data = () => canary("records.encrypted_data");
const key = () => canary("vault_members.encrypted_key");
const jwe = (): string => {
  const value = Array.from({ length: 5 }, () => randomBytes(12).toString("base64url")).join(".");
  canaries.set(value, "vault_members.encrypted_key");
  return value;
};
const used = new Set<string>();
const refused: string[] = [];

async function use(
  person: Pick<Person, "token">,
  route: string,
  ids: Record<string, string>,
  options: CallOptions = {},
) {
  const [method = "", path = ""] = route.split(" ");
  const at = path.replace(/:(\w+)/g, (_, name: string) => ids[name] ?? randomUUID());
  const answer = await call(service, person, method, at, options);
  if (answer.status < 300) used.add(route);
  else refused.push(JSON.stringify(answer.body));
  return answer;
}

const orgId = randomUUID();
const [owner, member] = [await people.add({ orgId, role: "owner" }), await people.add({ orgId, role: "member" })];
canaries.set(owner.token, null);

await t.test("every endpoint accepts canaries where it takes ciphertext", async (t) => {
  const content = () => ({ type: "login", encrypted_data: data() });
  const id = randomUUID();
  await use(owner, "POST /api/vaults", {}, { body: { id, name: "Vault", type: "shared", encrypted_key: key() } });
  const { body: record } = await use(owner, "POST /api/vaults/:id/records", { id }, { body: content() });
  const ids = { id, rid: record.id, user_id: member.userId };
  const grant = { permission: "read", encrypted_key: jwe() };
  await use(owner, "PUT /api/vaults/:id/members/:user_id", ids, { body: grant });
  await use(owner, "PUT /api/vaults/:id/records/:rid", ids, { body: content() });
  const imported = { records: [content(), { ...content(), type: "No" }, { ...content(), id: record.id }] };
  await use(owner, "POST /api/vaults/:id/import", ids, { body: imported });
  for (const route of ["GET /api/vaults", "GET /api/vaults/:id", "GET /api/vaults/:id/members"])
    await use(member, route, ids);
  for (const route of ["GET /api/vaults/:id/records", "GET /api/vaults/:id/records/:rid"])
    await use(member, route, ids);
  const { body: listed } = await use(owner, "GET /api/vaults/:id/records", ids);
  const records = listed.data.map((one) => ({ id: one.id, updated_at: one.updated_at, encrypted_data: data() }));
  const rotation = { ...ids, rotation_id: randomUUID() };
  await use(owner, "PUT /api/vaults/:id/rotation/:rotation_id", rotation, { body: { records } });
  const users = [
    { user_id: owner.userId, encrypted_key: key() },
    { user_id: member.userId, encrypted_key: jwe() },
  ];
  await use(owner, "POST /api/vaults/:id/rotate", ids, {
    body: { key_version: 1, encrypted_keys: { users }, records },
  });
  const signer = { ...owner, pair: await newKeyPair() };
  const first = { name: "Vault", org: orgId, ver: 2, check, set: [holder(signer, "manage")] };
  const { text: entry } = await entryOf(null, id, signer, first);
  await use(owner, "POST /api/vaults/:id/history", ids, { body: { entry } });
  await use(owner, "GET /api/vaults/:id/history", ids);
  await use(owner, "PUT /api/vaults/:id/pin", ids, { body: { version: 1, sealed: canary("vault_pins.sealed") } });
  await use(owner, "PATCH /api/vaults/:id", ids, { body: { safe_for_travel: true } });
  await use(owner, "DELETE /api/vaults/:id/records/:rid", ids);
  await use(owner, "DELETE /api/vaults/:id/members/:user_id", ids);
  const { body: short } = await use(
    owner,
    "POST /api/vaults",
    {},
    { body: { name: "Vault", type: "personal", encrypted_key: key() } },
  );
  await use(owner, "DELETE /api/vaults/:id", { id: short.id });
  t.same(
    routes.map(({ method, path }) => `${method} ${path}`).filter((route) => !used.has(route)),
    [],
  );

  // Late refusals: taken ids, objects of others, changed records.
  await use(owner, "POST /api/vaults", {}, { body: { id, name: "Vault", type: "shared", encrypted_key: key() } });
  await use(owner, "POST /api/vaults/:id/records", { id }, { body: { ...content(), id: record.id } });
  await use(member, "POST /api/vaults/:id/records", { id }, { body: content() });
  await use(member, "POST /api/vaults/:id/import", { id }, { body: { records: [content()] } });
  await use(
    owner,
    "PUT /api/vaults/:id/members/:user_id",
    { ...ids, user_id: owner.userId },
    { body: { permission: "read", encrypted_key: jwe() } },
  );
  await use(owner, "GET /api/vaults/:id", { id: randomUUID() });
  const { body: other } = await use(owner, "POST /api/vaults/:id/records", { id }, { body: content() });
  const headers = { "if-match": `"${canary()}"` };
  await use(owner, "PUT /api/vaults/:id/records/:rid", { id, rid: other.id }, { body: content(), headers });
});

await t.test("each endpoint refuses canaries in the wrong place", async (t) => {
  const fields = ["id", "name", "type", "encrypted_key", "key_version", "permission", "encrypted_data", "records"];
  fields.push("safe_for_travel", "token", "password");
  for (const { method, path } of routes) {
    const at = path.replace(/:\w+/g, () => randomUUID());
    const query = ["token", "cursor", "limit", "type", "updated_since"].map(
      (name) => `${name}=${encodeURIComponent(canary())}`,
    );
    const body = () => Object.fromEntries(fields.map((field) => [field, `${canary()} \u0000`]));
    const headers = () => ({ cookie: `session=${canary()}`, "x-coffer-org": canary(), "if-match": `"${canary()}"` });
    const send = async (token: string, sent?: unknown) => {
      const withBody = method === "GET" || method === "DELETE" ? {} : { body: sent };
      const answer = await call(service, { token }, method, `${at}?${query.join("&")}`, {
        headers: headers(),
        ...withBody,
      });
      t.ok(answer.status >= 400 || path === "/api/vaults", `${method} ${path}`);
      t.ok(answer.status < 500);
      refused.push(JSON.stringify(answer.body));
    };
    await send(canary(), body());
    await send(owner.token, body());
    await send(owner.token, `{"encrypted_data": "${canary()}`);
  }
});

await t.test("canaries are only found in the columns for ciphertext", async (t) => {
  const last = randomUUID();
  await call(service, owner, "DELETE", `/api/vaults/${randomUUID()}`, { headers: { "x-request-id": last } });
  await listeners.record("the last record", ({ request }) => request.id === last);
  await until("an empty outbox", async () => (await execute(service, "SELECT FROM vaults.outbox")).length === 0);
  const said = await service.said();
  const places = {
    ...said,
    audit: JSON.stringify(listeners.audit),
    events: JSON.stringify([listeners.records, listeners.vaults]),
    refusals: refused.join("\n"),
  };
  const found = (text: string): string[] => [...canaries.keys()].filter((value) => text.includes(value));
  t.ok(canaries.size > 200, `${canaries.size} values`);
  for (const [place, text] of Object.entries(places)) t.same(found(text), [], place);
  const columns = await execute<{ table: string; column: string }>(
    service,
    `SELECT table_name AS "table", column_name AS "column" FROM information_schema.columns WHERE table_schema = 'vaults'`,
  );
  const stored = new Set<string>();
  for (const { table, column } of columns) {
    const text = `SELECT string_agg("${column}"::text, E'\\n') AS text FROM vaults.${table}`;
    const [row] = await execute<{ text: string | null }>(service, text);
    for (const value of found(row?.text ?? "")) {
      t.equal(canaries.get(value), `${table}.${column}`);
      stored.add(`${table}.${column}`);
    }
  }
  t.same([...stored].sort(), ["records.encrypted_data", "vault_members.encrypted_key", "vault_pins.sealed"]);
  t.ok(places.traces.includes('"/api/vaults/{id}/records/{rid}"'), "the endpoint in the traces");
  t.match(places["log of Redis"], /Ready to accept connections[^]*Accepted/, "connections in the log of Redis");
  for (const place of ["log", "log of NATS", "audit", "refusals"] as const)
    t.ok(places[place].includes(place === "refusals" ? "not_found" : last), place);
});
