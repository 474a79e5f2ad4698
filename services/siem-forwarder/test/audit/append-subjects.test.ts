import { randomUUID } from "node:crypto";
import { connectBus } from "@coffer/bus";
import { type AuditAction, auditActions } from "@coffer/contract";
import { auditAppend, auditAppendOf, mayRecord, recordedActions } from "@coffer/events";
import type { AuditRecorder } from "@coffer/events";
import { deliverOver, enqueueAudit, outboxMigrations, startRelay } from "@coffer/outbox";
import { createDatabase, migrate, sql } from "@coffer/postgres";
import { createTelemetry } from "@coffer/telemetry";
import { until } from "@coffer/testkit";
import t from "tap";
import { z } from "zod";
import { draftOf } from "../delivery/draft.ts";
import { startForwarder, startStores } from "../forwarder.ts";

const { postgres, nats, people, listAll } = await startForwarder(t, await startStores(t));

/** The end of the bus that a service has. */
async function busOf(service: AuditRecorder) {
  const telemetry = createTelemetry({ service, level: "silent" });
  const bus = connectBus({ url: nats.url, service, ...nats.credentials[service], telemetry });
  t.teardown(() => bus.close());
  await until("the bus", () => bus.connected);
  return { bus, telemetry };
}

const buses = { "auth-sm": people.bus, vaults: (await busOf("vaults")).bus, scanner: (await busOf("scanner")).bus };

/** Sends one record with this action on the subject of `service`: how many were stored. */
const append = async (service: keyof typeof buses, action: string, orgId = randomUUID()) => {
  // Also what a newer version may send.
  const record = draftOf(orgId, { action: action as AuditAction });
  return (await buses[service].request(auditAppendOf(service), { records: [record] })).stored;
};

await t.test("a service appends each action that it may record", async (t) => {
  for (const service of ["auth-sm", "vaults", "scanner"] as const)
    for (const action of recordedActions[service]) t.equal(await append(service, action), 1, `${service}: ${action}`);
});

await t.test("an action of another service is refused, and nothing of the request is stored", async (t) => {
  const refused = [
    ["vaults", "user.login.succeeded"],
    ["vaults", "secret.read"],
    ["auth-sm", "record.read"],
    ["auth-sm", "vault.key.rotated"],
    ["auth-sm", "siem.webhook.deleted"],
    ["auth-sm", "audit.gap"],
    ["scanner", "org.member.role.changed"],
  ] as const;
  for (const [service, action] of refused)
    await t.rejects(append(service, action), { code: "invalid_request" }, `${service}: ${action}`);
  const orgId = randomUUID();
  const owner = await people.add([{ orgId, role: "owner" }]);
  const records = [draftOf(orgId, { action: "record.read" }), draftOf(orgId, { action: "token.issued" })];
  await t.rejects(buses.vaults.request(auditAppendOf("vaults"), { records }), { code: "invalid_request" });
  t.same(await listAll(owner), []);
});

await t.test("an action of a newer version is stored if the service may record others of its first word", async (t) => {
  t.equal(await append("vaults", "record.archived"), 1);
  t.equal(await append("auth-sm", "org.renamed"), 1);
  await t.rejects(append("vaults", "org.renamed"), { code: "invalid_request" });
  await t.rejects(append("scanner", "scan.stopped"), { code: "invalid_request" });
  await t.rejects(append("auth-sm", "constructor.name"), { code: "invalid_request" });
});

await t.test("the former shared subject is answered no more", async (t) => {
  const records = [draftOf(randomUUID(), { action: "record.read" })];
  await t.rejects(buses.vaults.request(auditAppend, { records }, { timeoutMilliseconds: 500 }), {
    code: "unavailable",
  });
});

await t.test(
  "the sender parks a record that is refused, and the others arrive, also from a row of a former version",
  async (t) => {
    const schema = "parking_sender";
    await migrate({ url: postgres.url, schema, packages: { outbox: outboxMigrations } });
    const { bus, telemetry } = await busOf("vaults");
    const database = createDatabase({ url: postgres.url, schema, telemetry });
    t.teardown(() => database.close());
    const orgId = randomUUID();
    const owner = await people.add([{ orgId, role: "owner" }]);
    const good = [draftOf(orgId, { action: "record.read" }), draftOf(orgId, { action: "vault.updated" })];
    const forged = draftOf(orgId, { action: "user.login.succeeded" });
    await database.transaction(async (tx) => {
      for (const record of [good[0], forged, good[1]]) if (record !== undefined) await enqueueAudit(tx, record);
    });
    const rows = z.object({ subject: z.string(), id: z.string(), problem: z.string().nullable() });
    const waiting = () => database.pool.any(sql.type(rows)`SELECT subject, id, problem FROM outbox ORDER BY position`);
    for (const { subject } of await waiting()) t.equal(subject, auditAppend.subject);
    const relay = startRelay({ database, deliver: deliverOver(bus), telemetry });
    t.teardown(() => relay.close());
    await until("the good ones arrive", async () => (await listAll(owner)).length === 2);
    const parked = await until("the refusal is noted", async () => {
      const left = await waiting();
      return left.length === 1 && left[0]?.problem !== null ? left[0] : undefined;
    });
    t.equal(parked.id, forged.id);
    t.match(parked.problem, /^invalid_request: vaults may not record the action user\.login\.succeeded/);
    t.same(
      (await listAll(owner)).map(({ id }) => id),
      good.map(({ id }) => id),
    );
  },
);

void t.test("every action is some service's, and siem-forwarder's own are no other's", (t) => {
  const own = (action: string): boolean => /^(siem|audit)\./.test(action);
  for (const action of auditActions) {
    const recorders = Object.entries(recordedActions).filter(([, actions]) => actions.includes(action));
    t.equal(recorders.length > 0, !own(action), action);
  }
  t.notOk(mayRecord("vaults", "siem.of.the.future"));
  t.end();
});
