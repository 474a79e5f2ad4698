import { type Bus, connectBus } from "@coffer/bus";
import { auditAppendOf, type AuditDraft, recordsChanged, vaultChanged } from "@coffer/events";
import { createTelemetry } from "@coffer/telemetry";
import { type TestNats, type TestScope, until } from "@coffer/testkit";
import type { z } from "zod";

export type RecordCatchUp = z.infer<typeof recordsChanged.payload>;
export type VaultCatchUp = z.infer<typeof vaultChanged.payload>;

/** Other services' connections to the bus: receives the audit and the events that sync receives. */
export interface Listeners {
  /** Sends sync's requests. */
  sync: Bus;
  audit: AuditDraft[];
  records: RecordCatchUp[];
  vaults: VaultCatchUp[];
  /** The first matching audit record, once it has arrived. */
  record(what: string, matches: (record: AuditDraft) => boolean): Promise<AuditDraft>;
  /** The first matching event of a vault, once it has arrived. */
  vaultEvent(what: string, matches: (event: VaultCatchUp) => boolean): Promise<VaultCatchUp>;
  /** The first matching event of records, once it has arrived. */
  recordEvent(what: string, matches: (event: RecordCatchUp) => boolean): Promise<RecordCatchUp>;
}

/** Subscribes as other services do. */
export async function startListeners(t: TestScope, nats: TestNats): Promise<Listeners> {
  const connect = (service: "siem-forwarder" | "sync"): Bus => {
    const telemetry = createTelemetry({ service, level: "silent" });
    const bus = connectBus({ url: nats.url, service, ...nats.credentials[service], telemetry });
    t.teardown(() => bus.close());
    return bus;
  };
  const [forwarder, sync] = [connect("siem-forwarder"), connect("sync")];
  const audit: AuditDraft[] = [];
  const records: RecordCatchUp[] = [];
  const vaults: VaultCatchUp[] = [];
  forwarder.reply(auditAppendOf("vaults"), ({ records: sent }) => {
    const known = new Set(audit.map(({ id }) => id));
    const fresh = sent.filter(({ id }) => !known.has(id));
    audit.push(...fresh);
    return { stored: fresh.length };
  });
  sync.subscribe(recordsChanged, (event) => void records.push(event));
  sync.subscribe(vaultChanged, (event) => void vaults.push(event));
  await until("the bus", () => forwarder.connected && sync.connected);
  return {
    sync,
    audit,
    records,
    vaults,
    record: (what, matches) => until(what, () => audit.find(matches)),
    vaultEvent: (what, matches) => until(what, () => vaults.find(matches)),
    recordEvent: (what, matches) => until(what, () => records.find(matches)),
  };
}
