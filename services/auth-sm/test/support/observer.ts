import type { Bus } from "@coffer/bus";
import { connectBus } from "@coffer/bus";
import type { AuditDraft } from "@coffer/events";
import { auditAppend, sessionRevoked } from "@coffer/events";
import { createTelemetry } from "@coffer/telemetry";
import type { TestNats, TestScope } from "@coffer/testkit";
import { until } from "@coffer/testkit";

/** What a revocation says, as other services hear it. */
export interface HeardRevocation {
  session_id: string;
  user_id: string;
  at: string;
  reason: string;
}

/** Another service's end of the bus: receives the audit in siem-forwarder's place, and hears what vaults would hear. */
export interface Observer {
  /** Asks what the service answers to others. */
  bus: Bus;
  records: AuditDraft[];
  revocations: HeardRevocation[];
  /** The first audit record like this one, once it has arrived. */
  record(what: string, matches: (record: AuditDraft) => boolean): Promise<AuditDraft>;
}

export async function observeBus(t: TestScope, nats: TestNats): Promise<Observer> {
  const [audit, bus] = (["siem-forwarder", "vaults"] as const).map((service) => {
    const telemetry = createTelemetry({ service, level: "silent" });
    const connected = connectBus({ url: nats.url, service, ...nats.credentials[service], telemetry });
    t.teardown(() => connected.close());
    return connected;
  }) as [Bus, Bus]; // one for each name
  const records: AuditDraft[] = [];
  const revocations: HeardRevocation[] = [];
  audit.reply(auditAppend, ({ records: sent }) => {
    const known = new Set(records.map(({ id }) => id));
    const fresh = sent.filter(({ id }) => !known.has(id));
    records.push(...fresh);
    return Promise.resolve({ stored: fresh.length });
  });
  bus.subscribe(sessionRevoked, (news) => void revocations.push(news));
  await until("the bus", () => audit.connected && bus.connected);
  return { bus, records, revocations, record: (what, matches) => until(what, () => records.find(matches)) };
}
