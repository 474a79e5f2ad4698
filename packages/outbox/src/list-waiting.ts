import type { EventSubject, RpcSubject } from "@coffer/events";
import { type Queryable, sql } from "@coffer/postgres";
import { z } from "zod";
import { laneOf } from "./enqueue.ts";
import { parkedAfter } from "./relay-lane.ts";

const waiting = z.object({ payload: z.string() });

/**
 * The undelivered messages of one subject, newest first, at most `limit`, for delivery on another
 * path. Skips parked messages, which do not wait for the bus, and payloads that do not match the
 * schema (of another version).
 */
export async function listWaiting<Payload>(
  db: Queryable,
  subject: RpcSubject<Payload, unknown> | EventSubject<Payload>,
  limit: number,
): Promise<Payload[]> {
  const schema = subject.kind === "rpc" ? subject.input : subject.payload;
  const rows = await db.any(sql.type(waiting)`
    select payload::text as payload from outbox
    where lane = ${laneOf(subject)} and subject = ${subject.subject} and attempts < ${parkedAfter}
    order by position desc limit ${limit}
  `);
  return rows.flatMap(({ payload }) => schema.safeParse(JSON.parse(payload)).data ?? []);
}
