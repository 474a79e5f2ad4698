import { type Bus, connectBus } from "@coffer/bus";
import type { ServiceError } from "@coffer/errors";
import {
  auditAppendOf,
  type AuditDraft,
  folderChanged,
  heldVaultHeads,
  type Membership,
  membershipChanged,
  sessionRevoked,
  setTravelMode,
  soleManagedVaults,
  travelModeOf,
  vaultViewers,
} from "@coffer/events";
import { createTelemetry } from "@coffer/telemetry";
import { type TestNats, type TestScope, until } from "@coffer/testkit";
import type { z } from "zod";

/** What a revocation says, as other services hear it. */
export interface HeardRevocation {
  session_id: string;
  user_id: string;
  at: string;
  reason: string;
}

/** A folder event as sync receives it. */
export type FolderNews = z.infer<typeof folderChanged.payload>;

/** Who travels, as the observer keeps it in the place of vaults. */
export interface TravelModes {
  modes: Map<string, { enabled: boolean; updated_at: string }>;
  /** What an answer waits for. */
  held: Promise<unknown>;
  /** How often it was asked to set one. */
  asked: number;
  /** In whose sessions. */
  sessions: Set<string | undefined>;
  /** Until when the last of these counts. */
  until: string | undefined;
  /** Since when the last caller has had the right, as auth-sm says. */
  standingSince: string | undefined;
  /** What it refuses to set one with, when anything. */
  refusal: ServiceError | null;
}

/** What the observer answers about vaults in the place of vaults. */
export interface VaultHistories {
  heads: Record<string, [number, string]>;
  soleManaged: { id: string; name: string }[];
  /** By vault: who sees it. */
  viewers: Map<string, string[]>;
  /** What it refuses to answer with, when anything. */
  refusal: ServiceError | null;
}

/**
 * Other services' ends of the bus: receives the audit in siem-forwarder's place, and keeps
 * memberships in that of vaults.
 */
export interface Observer {
  /** Asks what the service answers to others. */
  bus: Bus;
  records: AuditDraft[];
  revocations: HeardRevocation[];
  /** As they came, of every organization. */
  memberships: Membership[];
  travel: TravelModes;
  vaults: VaultHistories;
  /** Sends the requests of sync. */
  sync: Bus;
  /** The folder events that sync receives, in order of arrival. */
  folderNews: FolderNews[];
  /** The first audit record like this one, once it has arrived. */
  record(what: string, matches: (record: AuditDraft) => boolean): Promise<AuditDraft>;
}

export async function observeBus(t: TestScope, nats: TestNats): Promise<Observer> {
  const [audit, bus, sync] = (["siem-forwarder", "vaults", "sync"] as const).map((service) => {
    const telemetry = createTelemetry({ service, level: "silent" });
    const connected = connectBus({ url: nats.url, service, ...nats.credentials[service], telemetry });
    t.teardown(() => connected.close());
    return connected;
  }) as [Bus, Bus, Bus]; // one for each name
  const records: AuditDraft[] = [];
  const revocations: HeardRevocation[] = [];
  audit.reply(auditAppendOf("auth-sm"), ({ records: sent }) => {
    const known = new Set(records.map(({ id }) => id));
    const fresh = sent.filter(({ id }) => !known.has(id));
    records.push(...fresh);
    return Promise.resolve({ stored: fresh.length });
  });
  const memberships: Membership[] = [];
  bus.reply(membershipChanged, ({ memberships: sent }) => {
    memberships.push(...sent);
    return Promise.resolve({ kept: sent.length });
  });
  const travel = answerTravelModes(bus, records);
  const vaults = answerVaultHistories(bus);
  const folderNews: FolderNews[] = [];
  sync.subscribe(folderChanged, (news) => void folderNews.push(news));
  bus.subscribe(sessionRevoked, (news) => void revocations.push(news));
  await until("the bus", () => audit.connected && bus.connected && sync.connected);
  return {
    bus,
    records,
    revocations,
    memberships,
    travel,
    vaults,
    sync,
    folderNews,
    record: (what, matches) => until(what, () => records.find(matches)),
  };
}

function answerVaultHistories(bus: Bus): VaultHistories {
  const vaults: VaultHistories = { heads: {}, soleManaged: [], viewers: new Map(), refusal: null };
  const answer = <T>(value: T): Promise<T> =>
    vaults.refusal === null ? Promise.resolve(value) : Promise.reject(vaults.refusal);
  bus.reply(heldVaultHeads, () => answer({ heads: vaults.heads }));
  bus.reply(soleManagedVaults, () => answer({ vaults: vaults.soleManaged }));
  // Two people a page.
  bus.reply(vaultViewers, ({ vault_id, after }) => {
    const all = vaults.viewers.get(vault_id) ?? [];
    const from = Number(after ?? 0);
    const next = from + 2 < all.length ? String(from + 2) : null;
    return answer({ user_ids: all.slice(from, from + 2), after: next });
  });
  return vaults;
}

/** Sets and tells modes; keeps the records of each change. */
function answerTravelModes(bus: Bus, records: AuditDraft[]): TravelModes {
  const travel: TravelModes = {
    modes: new Map(),
    asked: 0,
    until: undefined,
    standingSince: undefined,
    sessions: new Set(),
    refusal: null,
    held: Promise.resolve(),
  };
  const modeOf = (userId: string) =>
    travel.modes.get(userId) ?? { enabled: false, updated_at: "1970-01-01T00:00:00.000000Z" };
  bus.reply(travelModeOf, ({ user_id }) => Promise.resolve(modeOf(user_id)));
  bus.reply(setTravelMode, async ({ user_id, enabled, audit, session_id, until, standing_since }) => {
    travel.asked += 1;
    travel.until = until;
    travel.standingSince = standing_since;
    travel.sessions.add(session_id);
    await travel.held;
    if (travel.refusal !== null) throw travel.refusal;
    if (modeOf(user_id).enabled === enabled) return modeOf(user_id);
    records.push(...audit);
    travel.modes.set(user_id, { enabled, updated_at: new Date().toISOString().replace("Z", "000Z") });
    return modeOf(user_id);
  });
  return travel;
}
