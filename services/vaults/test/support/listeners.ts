import type { Bus } from "@coffer/bus";
import { connectBus } from "@coffer/bus";
import type { AuditDraft } from "@coffer/events";
import { auditAppendOf, recordsChanged, vaultChanged } from "@coffer/events";
import { createTelemetry } from "@coffer/telemetry";
import type { TestNats, TestScope } from "@coffer/testkit";
import { until } from "@coffer/testkit";
import type { z } from "zod";

export type RecordNews = z.infer<typeof recordsChanged.payload>;
export type VaultNews = z.infer<typeof vaultChanged.payload>;

/** Other services' ends of the bus: receives the audit in siem-forwarder's place, and hears what sync would hear. */
export interface Listeners {
  /** Asks what sync asks. */
  sync: Bus;
  audit: AuditDraft[];
  records: RecordNews[];
  vaults: VaultNews[];
  /** The first audit record like this one, once it has arrived. */
  record(what: string, matches: (record: AuditDraft) => boolean): Promise<AuditDraft>;
  /** The first news of a vault like this, once they have arrived. */
  vaultNews(what: string, matches: (news: VaultNews) => boolean): Promise<VaultNews>;
  /** The first news of records like this, once they have arrived. */
  recordNews(what: string, matches: (news: RecordNews) => boolean): Promise<RecordNews>;
}

/** Listens on the bus as other services do. */
export async function startListeners(t: TestScope, nats: TestNats): Promise<Listeners> {
  const connect = (service: "siem-forwarder" | "sync"): Bus => {
    const telemetry = createTelemetry({ service, level: "silent" });
    const bus = connectBus({ url: nats.url, service, ...nats.credentials[service], telemetry });
    t.teardown(() => bus.close());
    return bus;
  };
  const [forwarder, sync] = [connect("siem-forwarder"), connect("sync")];
  const audit: AuditDraft[] = [];
  const records: RecordNews[] = [];
  const vaults: VaultNews[] = [];
  forwarder.reply(auditAppendOf("vaults"), ({ records: sent }) => {
    const known = new Set(audit.map(({ id }) => id));
    const fresh = sent.filter(({ id }) => !known.has(id));
    audit.push(...fresh);
    return { stored: fresh.length };
  });
  sync.subscribe(recordsChanged, (news) => void records.push(news));
  sync.subscribe(vaultChanged, (news) => void vaults.push(news));
  await until("the bus", () => forwarder.connected && sync.connected);
  return {
    sync,
    audit,
    records,
    vaults,
    record: (what, matches) => until(what, () => audit.find(matches)),
    vaultNews: (what, matches) => until(what, () => vaults.find(matches)),
    recordNews: (what, matches) => until(what, () => records.find(matches)),
  };
}
