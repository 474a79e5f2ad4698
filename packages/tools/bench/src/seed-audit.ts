import { randomUUID } from "node:crypto";
import { setTimeout as pause } from "node:timers/promises";
import { type Bus, connectBus } from "@coffer/bus";
import { auditAppendOf, type AuditDraft } from "@coffer/events";
import { newId } from "@coffer/service";
import { createTelemetry } from "@coffer/telemetry";
import type { RunningCoffer } from "./coffer.ts";

/** Audit records of one organization. */
export interface AuditSize {
  records: number;
}

/** The parts that the audit's benchmarks use. */
export interface SeededAudit {
  size: AuditSize;
  orgId: string;
  /** Connected as auth-sm. */
  bus: Bus;
  /** Appends `count` records as auth-sm does; resolves when all are in the chain. */
  append(count: number): Promise<void>;
}

const perRequest = 500;
const atOnce = 2;

/** Fills the chain of one organization. */
export async function seedAudit(coffer: RunningCoffer, size: AuditSize): Promise<SeededAudit> {
  const orgId = randomUUID();
  const telemetry = createTelemetry({ service: "auth-sm", level: "silent" });
  const bus: Bus = connectBus({
    url: coffer.natsUrl,
    service: "auth-sm",
    ...coffer.natsCredentials["auth-sm"],
    telemetry,
  });
  const append = async (count: number): Promise<void> => {
    let left = count;
    const worker = async (): Promise<void> => {
      while (left > 0) {
        const next = Math.min(perRequest, left);
        left -= next;
        const records = Array.from({ length: next }, () => draftOf(orgId));
        await bus.request(auditAppendOf("auth-sm"), { records }, { timeoutMilliseconds: 30_000 });
      }
    };
    await Promise.all(Array.from({ length: atOnce }, worker));
  };
  const isAnswered = (): Promise<boolean> =>
    append(1).then(
      () => true,
      () => false,
    );
  while (!bus.connected || !(await isAnswered())) await pause(20);
  await append(size.records);
  return { size, orgId, bus, append };
}

function draftOf(orgId: string): AuditDraft {
  return {
    schema: "coffer.audit/1",
    id: newId(),
    time: new Date().toISOString(),
    org_id: orgId,
    action: "secret.read",
    outcome: "success",
    actor: { type: "client", id: randomUUID(), application_id: randomUUID() },
    target: { type: "secret", id: "AAAAAAAAAAAAAAAAAAAAAA", parent_id: randomUUID() },
    source: { ip: "203.0.113.7", user_agent: "coffer-sdk/0.1.0" },
    request: { id: randomUUID(), method: "GET", route: "/api/sm/v1/secrets/{uid}", status: 200 },
  };
}
