import { randomUUID } from "node:crypto";
import { Writable } from "node:stream";
import { type AuditDraft, auditSchemaName } from "@coffer/events";
import { outboxMigrations } from "@coffer/outbox";
import { createTelemetry, type Telemetry } from "@coffer/telemetry";
import { createDatabase, type Database, migrate } from "../src/index.ts";

interface Teardown {
  teardown(work: () => unknown): unknown;
}

/** Telemetry of auth-sm whose log lines are recorded. */
export function recordedTelemetry(): { telemetry: Telemetry; log: string[] } {
  const log: string[] = [];
  const destination = new Writable({
    write(chunk: Buffer, _encoding, done) {
      log.push(chunk.toString());
      done();
    },
  });
  return { telemetry: createTelemetry({ service: "auth-sm", destination }), log };
}

let schemas = 0;

/** A schema of the test with an outbox, and a database on it that is closed with the test. */
export async function freshDatabase(
  t: Teardown,
  url: string,
  options: { poolSize?: number } = {},
): Promise<{ database: Database; schema: string; telemetry: Telemetry; log: string[] }> {
  schemas += 1;
  const schema = `auth_${schemas}`;
  await migrate({ url, schema, packages: { outbox: outboxMigrations } });
  const { telemetry, log } = recordedTelemetry();
  const database = createDatabase({ url, schema, telemetry, ...options });
  t.teardown(() => database.close());
  return { database, schema, telemetry, log };
}

/** A promise and the function that fulfils it. */
export function latch(): { open: () => void; opened: Promise<void> } {
  const { promise, resolve } = Promise.withResolvers<undefined>();
  return { open: () => resolve(undefined), opened: promise.then(() => undefined) };
}

/** An audit record as auth-sm would draft it. */
export function auditDraft(over: Partial<AuditDraft> = {}): AuditDraft {
  return {
    schema: auditSchemaName,
    id: randomUUID(),
    time: "2026-11-20T10:00:00.123456Z",
    org_id: randomUUID(),
    action: "secret.read",
    outcome: "success",
    actor: { type: "client", id: randomUUID(), application_id: randomUUID() },
    target: { type: "secret", id: "c2VjcmV0LXVpZC0xMjM0NQ", parent_id: randomUUID() },
    source: { ip: "192.0.2.7", user_agent: "coffer-cli/0.1.0" },
    request: { id: randomUUID(), method: "GET", route: "/api/sm/v1/secrets/:uid", status: 200 },
    ...over,
  };
}
