import { randomUUID } from "node:crypto";
import { ServiceError } from "@coffer/errors";
import { sessionRevoked } from "@coffer/events";
import { z } from "zod";
import { until } from "@coffer/testkit";
import { type Database, sql } from "@coffer/postgres";
import { type Deliver, enqueue, type Relay, type RelayOptions, startRelay } from "../src/index.ts";

/** The error of a delivery without a consumer. */
export const unavailable = () => new ServiceError("unavailable", "there is no responder");

/** Writes events whose session ids are `names`, in one transaction. */
export const send = (database: Database, ...names: string[]) =>
  database.transaction(async (tx) => {
    for (const session_id of names) {
      const event = { session_id, user_id: "u", at: "2026-11-20T10:00:00.000000Z", reason: "logged_out" } as const;
      await enqueue(tx, sessionRevoked, event, { id: randomUUID() });
    }
  });

/** The name under which `send` wrote a payload. */
export const nameOf = (payload: unknown) => z.object({ session_id: z.string() }).parse(payload).session_id;

/** How many messages are in the outbox. */
export const waiting = (database: Database) =>
  database.pool.oneFirst(sql.type(z.object({ n: z.number() }))`select count(*) as n from outbox`);

export const emptied = (database: Database) =>
  until("the outbox is empty", async () => (await waiting(database)) === 0);

/** A relay that is closed with the test. */
export function relayOn(
  t: { teardown(work: () => unknown): unknown },
  database: Database,
  deliver: Deliver,
  options: Partial<RelayOptions> = {},
): Relay {
  const relay = startRelay({ database, deliver, telemetry: database.telemetry, ...options });
  t.teardown(() => relay.close());
  return relay;
}

/** The names of what is delivered, by a relay that is closed with the test. */
export function relayedNames(t: { teardown(work: () => unknown): unknown }, database: Database): readonly string[] {
  const names: string[] = [];
  relayOn(t, database, (_, payloads) => {
    names.push(...payloads.map(nameOf));
    return Promise.resolve();
  });
  return names;
}
