import { allEvents, allRpcs, auditAppend, auditAppendOf, auditRecorderOf } from "@coffer/events";
import type { Database } from "@coffer/postgres";
import type { Telemetry } from "@coffer/telemetry";
import type { Deliver, RelayedSubject } from "./deliver.ts";
import { laneOf } from "./enqueue.ts";
import { observeOutbox } from "./metrics.ts";
import { createLane } from "./relay-lane.ts";

export interface RelayOptions {
  database: Database;
  deliver: Deliver;
  telemetry: Telemetry;
  /**
   * The subjects to send; default: all that the service may send. Other rows wait for a newer
   * version.
   */
  subjects?: readonly RelayedSubject[];
  /** The most bytes of JSON in one delivery. Default: 384 KiB. */
  mostBytes?: number;
  /** The timeout of a delivery. Default: 5 s. */
  deliverMilliseconds?: number;
}

export interface Relay {
  /** Scans now, also after a failed delivery: for when the bus has reconnected. */
  nudge(): void;
  /** Ends after the current delivery. Call it before the database is closed. */
  close(): Promise<void>;
}

/**
 * Delivers outbox messages to their consumers. A commit of this process wakes the lane of an event
 * or request; a scan every 100 to 200 ms finds audit records and rows of other processes. Any
 * number of relays may run: each locks its rows. The relay deletes a row after the acknowledgement,
 * so a crash repeats the delivery.
 */
export function startRelay(options: RelayOptions): Relay {
  const { database, deliver, telemetry, mostBytes = 384 * 1024, deliverMilliseconds = 5_000 } = options;
  const subjects = options.subjects ?? subjectsOf(telemetry.service);
  const names = [...new Set(subjects.map(laneOf))];
  const lanes = names.map((name) =>
    createLane({
      name,
      subjects: new Map(
        subjects
          .filter((subject) => laneOf(subject) === name)
          .map((each) => [each.subject, sentAs(each, telemetry.service)]),
      ),
      connection: database.pipelinedConnection(),
      deliver,
      telemetry,
      mostBytes,
      deliverMilliseconds,
    }),
  );
  observeOutbox(database, telemetry.metrics, names);
  database.onCommit((written) => {
    for (const lane of lanes) if (written.has(lane.name)) lane.wake("commit");
  });
  return {
    nudge() {
      for (const lane of lanes) lane.wake("nudge");
    },
    async close() {
      await Promise.all(lanes.map((lane) => lane.close()));
    },
  };
}

/** The subject of delivery: audit records are sent on the subject of their service. */
function sentAs(subject: RelayedSubject, service: string): RelayedSubject {
  if (subject.subject !== auditAppend.subject) return subject;
  const recorder = auditRecorderOf(service);
  if (recorder === undefined) throw new TypeError(`${service} has no subject for audit records: see recordedActions`);
  return auditAppendOf(recorder);
}

function subjectsOf(service: string): RelayedSubject[] {
  const rpcs: readonly RelayedSubject[] = auditRecorderOf(service) ? [...allRpcs, auditAppend] : allRpcs;
  const events: readonly RelayedSubject[] = allEvents;
  return [...rpcs, ...events].filter((subject) =>
    subject.kind === "rpc" ? subject.callers.some((name) => name === service) : subject.publisher === service,
  );
}
