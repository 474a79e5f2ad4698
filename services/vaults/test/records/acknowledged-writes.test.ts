import { randomUUID } from "node:crypto";
import { until } from "@coffer/testkit";
import t from "tap";
import { call } from "../support/call.ts";
import { newCompany } from "../support/company.ts";
import { execute } from "../support/held-vault.ts";
import type { Person } from "../support/people.ts";
import { startVaults } from "../support/service.ts";
import { newRecord, sealed, share } from "../support/vaults.ts";

// Each response and its audit record say the same, whatever the requests of one group meet: callers
// without permission, permissions that end, several writers of one record, connections that break.

const service = await startVaults(t);
const { people, listeners } = service;
const { orgId, owner, member, vault, path } = await newCompany(service);
const reader = await people.add({ orgId, role: "member" });
const stranger = await people.add({ orgId: randomUUID(), role: "owner" });
await share(service, owner, vault.id, reader, "read");

const methods = ["POST", "PUT", "PUT", "DELETE"] as const;
const actions = { POST: "record.created", PUT: "record.updated", DELETE: "record.deleted" } as const;
const done = { POST: 201, PUT: 200, DELETE: 204 } as const;

interface Sent {
  by: Person;
  method: (typeof methods)[number];
  rid: string;
  requestId: string;
  status: number;
}

/** Sends the writes of everyone to a new record and to one of their own making; `meanwhile` disturbs them. */
async function round(meanwhile: () => Promise<unknown>): Promise<Sent[]> {
  const { id } = await newRecord(service, owner, vault.id);
  const write = async (by: Person, method: Sent["method"]): Promise<Sent> => {
    const rid = method === "POST" ? randomUUID() : id;
    const requestId = randomUUID();
    const content = { type: "login", encrypted_data: sealed(), ...(method === "POST" && { id: rid }) };
    const body = method === "DELETE" ? {} : { body: content };
    const headers = { "x-request-id": requestId };
    const at = `${path}/records${method === "POST" ? "" : `/${rid}`}`;
    const { status } = await call(service, by, method, at, { ...body, headers });
    return { by, method, rid, requestId, status };
  };
  const writing = methods.flatMap((method) => [reader, stranger, owner, member].map((by) => write(by, method)));
  const [sent] = await Promise.all([Promise.all(writing), meanwhile()]);
  return sent;
}

const disturbances: Record<string, () => Promise<unknown>> = {
  nothing: () => Promise.resolve(),
  "a member who is removed": () => call(service, owner, "DELETE", `${path}/members/${member.userId}`),
  "connections that break": () =>
    execute(
      service,
      `SELECT pg_terminate_backend(pid) FROM pg_stat_activity
       WHERE datname = current_database() AND query LIKE '%held AS MATERIALIZED%' AND pid <> pg_backend_pid()`,
    ),
};

for (const [what, meanwhile] of Object.entries(disturbances)) {
  await t.test(`beside ${what}`, async (t) => {
    const sent = await round(meanwhile);
    await until("all is delivered", async () => (await execute(service, "SELECT FROM vaults.outbox")).length === 0);
    for (const { by, method, rid, requestId, status } of sent) {
      const records = listeners.audit.filter(({ request }) => request.id === requestId);
      // A write whose connection breaks may have been done.
      if (status === 503 && records.length === 0) continue;
      t.equal(records.length, 1, `${method} ${status}`);
      const isDone = status === done[method] || status === 503;
      t.match(records[0], {
        org_id: by === stranger ? String : orgId,
        action: actions[method],
        outcome: isDone ? "success" : status === 403 ? "denied" : "failure",
        actor: { type: "user", id: by.userId, session_id: by.sessionId },
        target: { type: "record", id: rid, parent_id: vault.id },
        request: { method, status: isDone ? done[method] : status },
      });
      if (by === stranger) t.equal(status, 404);
      if (by === reader) t.equal(status, 403);
    }
    const stored = await execute<{ id: string }>(service, "SELECT id FROM vaults.records WHERE id = ANY ($1)", [
      sent.map(({ rid }) => rid),
    ]);
    const successes = listeners.audit.filter(({ outcome }) => outcome === "success");
    for (const rid of new Set(sent.map((each) => each.rid))) {
      const [made, gone] = ["record.created", "record.deleted"].map((action) =>
        successes.some((record) => record.action === action && record.target.id === rid),
      );
      t.equal(
        stored.some(({ id }) => id === rid),
        made && !gone,
      );
    }
  });
}
