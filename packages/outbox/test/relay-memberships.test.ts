import { randomUUID } from "node:crypto";
import { auditAppendOf, type Membership, membershipChanged, sessionRevoked } from "@coffer/events";
import { testPostgres, until } from "@coffer/testkit";
import t from "tap";
import { type Database, sql } from "@coffer/postgres";
import { deliverOver, type DeliveryBus, enqueue, enqueueAudit } from "../src/index.ts";
import { emptied, relayOn, send, unavailable, waiting } from "./relaying.ts";
import { auditDraft, freshDatabase } from "../../postgres/test/support.ts";

const { url } = await testPostgres(t);

const membershipOf = (version: number): Membership => ({
  org_id: randomUUID(),
  user_id: randomUUID(),
  role: "member",
  status: "active",
  name: "Ada",
  email: "ada@example.com",
  joined_at: "2026-11-20T10:00:00.000000Z",
  version,
});
/** In one transaction, so that the relay finds all of them at once. */
const publish = (database: Database, versions: readonly number[]) =>
  database.transaction(async (tx) => {
    for (const version of versions)
      await enqueue(tx, membershipChanged, { memberships: [membershipOf(version)] }, { id: randomUUID() });
  });

void t.test("memberships wait for vaults, the metric shows since when, and all others are served", async (t) => {
  const { database, telemetry } = await freshDatabase(t, url);
  let here = false;
  const refused: number[][] = [];
  const requests: number[][] = [];
  const others: string[] = [];
  const bus: DeliveryBus = {
    request(rpc, input) {
      if (rpc.subject !== membershipChanged.subject) others.push(rpc.subject);
      else {
        const versions = membershipChanged.input.parse(input).memberships.map(({ version }) => version);
        (here ? requests : refused).push(versions);
        if (!here) return Promise.reject(unavailable());
      }
      // The relay ignores the response.
      return Promise.resolve(rpc.output.parse({ stored: 1, kept: 1 }));
    },
    publish: ({ subject }) => void others.push(subject),
    flush: () => Promise.resolve(),
  };
  const relay = relayOn(t, database, deliverOver(bus));
  const metric = async (name: string) =>
    Number(new RegExp(`${name}\\{service="auth-sm"\\} (\\S+)`).exec(await telemetry.metrics.registry.metrics())?.[1]);
  await publish(database, [1, 2, 3]);
  await send(database, "a session");
  await database.transaction((tx) => enqueueAudit(tx, auditDraft()));
  await until("the others are served", () => others.length === 2);
  t.strictSame(others.toSorted(), [sessionRevoked.subject, auditAppendOf("auth-sm").subject].toSorted());
  await until("only memberships are left", async () => (await waiting(database)) === 3);
  await database.pool.query(sql.typeAlias("void")`update outbox set created_at = now() - interval '2 days'`);
  t.ok((await metric("coffer_outbox_oldest_age_seconds")) >= 172_800);
  t.equal(await metric("coffer_outbox_parked"), 0);
  here = true;
  relay.nudge();
  await emptied(database);
  t.strictSame(requests.flat(), [1, 2, 3]);
  t.strictSame(refused[0], [1, 2, 3], "several go in one request");
});
