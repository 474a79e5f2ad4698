import type { EventSubject, RpcSubject } from "@coffer/events";
import { z } from "zod";
import { laneOf } from "./enqueue.ts";
import { parkedAfter } from "./relay-lane.ts";
import type { Queryable } from "./sql.ts";
import { sql } from "./sql.ts";

const waiting = z.object({ payload: z.string() });

/**
 * What was enqueued of one subject and nobody has acknowledged yet, newest first, at most `limit`: for whoever can be told
 * on another way meanwhile. What is parked is left out, since it may stay for days and waits for no bus; so is what the
 * schema of the subject does not know (of another version).
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
