import { randomUUID } from "node:crypto";
import { revokedSessions } from "@coffer/events";
import t from "tap";
import { call } from "../support/call.ts";
import { execute } from "../support/members.ts";
import { register } from "../support/people.ts";
import { startAuthSm } from "../support/service.ts";

const service = await startAuthSm(t);
const { bus } = service.observer;
const hour = 3_600_000;
const longAgo = (): string => new Date(service.clock.now().getTime() - hour).toISOString();

await t.test("a request over the bus returns which sessions have ended since, and when", async (t) => {
  const person = await register(service);
  await register(service); // whose session lasts
  const before = service.clock.now();
  t.equal((await call(service, "POST", "/api/auth/logout", { token: person.token })).status, 204);
  const { sessions, has_more } = await bus.request(revokedSessions, { since: longAgo() });
  t.equal(has_more, false);
  t.same(
    sessions.map(({ session_id }) => session_id),
    [person.sessionId],
  );
  const at = sessions[0]?.at ?? "";
  t.ok(Date.parse(at) >= before.getTime());
  t.same((await bus.request(revokedSessions, { since: at })).sessions, sessions, "at that moment too");
  const later = new Date(Date.parse(at) + 1).toISOString();
  t.same((await bus.request(revokedSessions, { since: later })).sessions, []);
});

await t.test("many come in pages, each once, also those of one moment", async (t) => {
  const { sessionId } = await register(service);
  const count = 4_500;
  await execute(
    service,
    `INSERT INTO auth_sm.sessions (id, user_id, device_id, device_name, device_type, generation, refresh_hash, rotated_at,
       created_at, last_used_at, expires_at, revoked_at)
     SELECT gen_random_uuid(), user_id, device_id, device_name, device_type, generation, gen_random_uuid()::text::bytea,
       rotated_at, created_at, last_used_at, expires_at, now() - interval '1 day' + n / 3000 * interval '1 microsecond'
     FROM auth_sm.sessions, generate_series(1, $2) AS n WHERE id = $1`,
    [sessionId, count],
  );
  const found: string[] = [];
  let from: { since: string; after?: string } = { since: new Date(Date.now() - 48 * hour).toISOString() };
  let pages = 0;
  for (let more = true; more; pages += 1) {
    const page: ReturnType<typeof revokedSessions.output.parse> = await bus.request(revokedSessions, from);
    found.push(...page.sessions.map(({ session_id }) => session_id));
    const last = page.sessions.at(-1);
    from = { since: last?.at ?? "", after: last?.session_id ?? "" };
    more = page.has_more;
  }
  const rows = await execute(
    service,
    "SELECT id FROM auth_sm.sessions WHERE revoked_at IS NOT NULL ORDER BY revoked_at, id",
  );
  t.same(
    found,
    (rows as { id: string }[]).map(({ id }) => id),
  );
  t.equal(pages, 3);
  t.ok(found.length > count);
});

await t.test("a question that is none is refused", async (t) => {
  await t.rejects(bus.request(revokedSessions, { since: "yesterday" }), { name: "ShapeError" });
  await t.rejects(bus.request(revokedSessions, { since: longAgo(), after: `${randomUUID()}x` }), {
    name: "ShapeError",
  });
});
