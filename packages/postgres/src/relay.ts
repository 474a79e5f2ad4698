import { allEvents, allRpcs, auditAppend, auditAppendOf, auditRecorderOf } from "@coffer/events";
import type { Telemetry } from "@coffer/telemetry";
import type { Database } from "./database.ts";
import type { Deliver, RelayedSubject } from "./deliver.ts";
import { laneOf } from "./enqueue.ts";
import { observeOutbox } from "./outbox-metrics.ts";
import { createLane } from "./relay-lane.ts";

export interface RelayOptions {
  database: Database;
  deliver: Deliver;
  telemetry: Telemetry;
  /**
   * What this service sends; unless told, everything that its name may send. Other rows are left for a newer version.
   */
  subjects?: readonly RelayedSubject[];
  /** The most bytes of JSON in one delivery; 384 KiB unless told. */
  mostBytes?: number;
  /** How long a delivery may take; 5 s unless told. */
  deliverMilliseconds?: number;
}

export interface Relay {
  /** Looks for messages now, also when the last delivery failed: for the moment the bus is back. */
  nudge(): void;
  /** Ends after the delivery under way. Call it before the database is closed. */
  close(): Promise<void>;
}

/**
 * Moves messages from the outbox to their consumers: events and requests at once after a commit of this process, and
 * every 100 to 200 ms audit records and what other processes have left. Any number of relays may run; a row is with one
 * of them at a time, and is deleted only after its delivery was acknowledged, so that a crash in between delivers it
 * again.
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
      line: database.line(),
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

/** The subject on which messages leave: audit records on that of their service, the rest on their own. */
function sentAs(subject: RelayedSubject, service: string): RelayedSubject {
  if (subject.subject !== auditAppend.subject) return subject;
  const recorder = auditRecorderOf(service);
  if (recorder === undefined) throw new TypeError(`${service} has no subject for audit records: see recordedActions`);
  return auditAppendOf(recorder);
}

/** Everything that a service of this name may send. */
function subjectsOf(service: string): RelayedSubject[] {
  const rpcs: readonly RelayedSubject[] = auditRecorderOf(service) ? [...allRpcs, auditAppend] : allRpcs;
  const events: readonly RelayedSubject[] = allEvents;
  return [...rpcs, ...events].filter((subject) =>
    subject.kind === "rpc" ? subject.callers.some((name) => name === service) : subject.publisher === service,
  );
}
