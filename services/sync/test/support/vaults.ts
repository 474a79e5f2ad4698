import { connectBus } from "@coffer/bus";
import type { Bus } from "@coffer/bus";
import type { RecordChange } from "@coffer/events";
import { changesSince, newsSince, recordsChanged, vaultChanged, vaultViewers } from "@coffer/events";
import { createTelemetry } from "@coffer/telemetry";
import type { TestNats, TestScope } from "@coffer/testkit";
import type { Part as WirePart } from "../../src/answers/parts.ts";
import type { RecordNews, VaultNews } from "../../src/pushes/push.ts";

/** A part as tests say it; the lengths are those of the changes unless it has others. */
export type Part = Omit<WirePart, "change_lengths" | "changes"> & {
  changes: RecordChange[];
  change_lengths?: number[];
};
export type Asked = ReturnType<typeof changesSince.input.parse>;
type News = ReturnType<typeof newsSince.output.parse>;

/** The part of vaults that sync hears and asks. What it answers is what the test says. */
export interface Vaults {
  bus: Bus;
  /** Questions about changes so far. */
  asked: Asked[];
  /** Answers the next questions. Default: nothing has changed. */
  changes: (asked: Asked) => Part | Promise<Part>;
  /** Who may see which vault. */
  viewers: Map<string, string[]>;
  /** Called before each answer about viewers. */
  beforeViewers: () => unknown;
  viewersAsked: number;
  /** What is news since a moment. Default: nothing, at the present moment. */
  news: (since: string | null, after: string | null) => Partial<News> | Promise<Partial<News>>;
  /** Questions about news so far. */
  newsAsked: (string | null)[];
  /** Tells these on the bus. */
  tell(...news: (RecordNews | VaultNews)[]): Promise<void>;
}

/** The present as the service writes it. */
export function moment(): string {
  return `${new Date().toISOString().slice(0, -1)}000Z`;
}

/** An answer without anything in it. */
export function nothing(): Part {
  return { changes: [], deleted: [], server_time: moment(), has_more: false, reset: false, after: null };
}

/** Answers on the bus as vaults does. */
export function startVaults(t: TestScope, nats: TestNats): Vaults {
  const telemetry = createTelemetry({ service: "vaults", level: "silent" });
  const bus = connectBus({ url: nats.url, service: "vaults", ...nats.credentials.vaults, telemetry });
  t.teardown(() => bus.close());
  const vaults: Vaults = {
    bus,
    asked: [],
    changes: nothing,
    viewers: new Map(),
    beforeViewers: () => undefined,
    viewersAsked: 0,
    news: () => ({}),
    newsAsked: [],
    tell: async (...news) => {
      for (const each of news) {
        if ("changes" in each) bus.publish(recordsChanged, each);
        else bus.publish(vaultChanged, each);
      }
      await bus.flush();
    },
  };
  bus.reply(changesSince, async (input) => {
    vaults.asked.push(input);
    const { changes, ...part } = await vaults.changes(input);
    const texts = changes.map((change) => JSON.stringify(change));
    return {
      change_lengths: texts.map((text) => Buffer.byteLength(text)),
      ...part,
      changes: Buffer.from(texts.join(",")),
    };
  });
  bus.reply(newsSince, async ({ since, after }) => {
    vaults.newsAsked.push(since);
    const news = await vaults.news(since, after);
    return { records: [], vaults: [], server_time: moment(), reset: false, after: null, ...news };
  });
  bus.reply(vaultViewers, async ({ vault_id, after }) => {
    vaults.viewersAsked += 1;
    await vaults.beforeViewers();
    const all = vaults.viewers.get(vault_id) ?? [];
    // Small pages, so that there are several.
    const at = after === null ? 0 : Number(after);
    return { user_ids: all.slice(at, at + 2), after: at + 2 < all.length ? String(at + 2) : null };
  });
  return vaults;
}
