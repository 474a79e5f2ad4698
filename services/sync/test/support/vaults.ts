import { type Bus, connectBus } from "@coffer/bus";
import {
  catchUpSince,
  changesSince,
  type RecordChange,
  recordsChanged,
  vaultChanged,
  vaultViewers,
} from "@coffer/events";
import { createTelemetry } from "@coffer/telemetry";
import type { TestNats, TestScope } from "@coffer/testkit";
import type { Part as WirePart } from "../../src/answers/parts.ts";
import type { RecordEvent, VaultEvent } from "../../src/pushes/push.ts";

/** A part as tests write it; without `lengths` they are computed. */
export type Part = Omit<WirePart, "change_lengths" | "changes"> & {
  changes: RecordChange[];
  change_lengths?: number[];
};
export type ChangesRequest = ReturnType<typeof changesSince.input.parse>;
type CatchUp = ReturnType<typeof catchUpSince.output.parse>;

/** The part of vaults that sync uses. The test sets its responses. */
export interface Vaults {
  bus: Bus;
  /** The requests for changes so far. */
  requests: ChangesRequest[];
  /** Answers the next requests. Default: no changes. */
  changes: (request: ChangesRequest) => Part | Promise<Part>;
  /** The viewers of each vault. */
  viewers: Map<string, string[]>;
  /** Called before each response about viewers. */
  beforeViewers: () => unknown;
  viewerRequests: number;
  /** The changes since a moment. Default: none, at the present moment. */
  catchUp: (since: string | null, after: string | null) => Partial<CatchUp> | Promise<Partial<CatchUp>>;
  /** The catch-up requests so far. */
  catchUpRequests: (string | null)[];
  /** Publishes events. */
  publish(...events: (RecordEvent | VaultEvent)[]): Promise<void>;
}

/** The present time as the service writes it. */
export function moment(): string {
  return `${new Date().toISOString().slice(0, -1)}000Z`;
}

/** A response without changes. */
export function nothing(): Part {
  return { changes: [], deleted: [], server_time: moment(), has_more: false, reset: false, after: null };
}

/** Replies on the bus as vaults does. */
export function startVaults(t: TestScope, nats: TestNats): Vaults {
  const telemetry = createTelemetry({ service: "vaults", level: "silent" });
  const bus = connectBus({ url: nats.url, service: "vaults", ...nats.credentials.vaults, telemetry });
  t.teardown(() => bus.close());
  const vaults: Vaults = {
    bus,
    requests: [],
    changes: nothing,
    viewers: new Map(),
    beforeViewers: () => undefined,
    viewerRequests: 0,
    catchUp: () => ({}),
    catchUpRequests: [],
    publish: async (...events) => {
      for (const each of events) {
        if ("changes" in each) bus.publish(recordsChanged, each);
        else bus.publish(vaultChanged, each);
      }
      await bus.flush();
    },
  };
  bus.reply(changesSince, async (input) => {
    vaults.requests.push(input);
    const { changes, ...part } = await vaults.changes(input);
    const texts = changes.map((change) => JSON.stringify(change));
    return {
      change_lengths: texts.map((text) => Buffer.byteLength(text)),
      ...part,
      changes: Buffer.from(texts.join(",")),
    };
  });
  bus.reply(catchUpSince, async ({ since, after }) => {
    vaults.catchUpRequests.push(since);
    const missed = await vaults.catchUp(since, after);
    return { records: [], vaults: [], server_time: moment(), reset: false, after: null, ...missed };
  });
  bus.reply(vaultViewers, async ({ vault_id, after }) => {
    vaults.viewerRequests += 1;
    await vaults.beforeViewers();
    const all = vaults.viewers.get(vault_id) ?? [];
    // Small pages, so that there are several.
    const at = after === null ? 0 : Number(after);
    return { user_ids: all.slice(at, at + 2), after: at + 2 < all.length ? String(at + 2) : null };
  });
  return vaults;
}
