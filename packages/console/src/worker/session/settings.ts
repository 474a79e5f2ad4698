import { indexedDbStorage } from "@coffer/sdk/browser";
import { lockMinutes } from "../../protocol/session.ts";
import type { Settings } from "../../protocol/session.ts";

const storage = indexedDbStorage("coffer settings");

/** The choices for this browser, whoever signs in. They hold no secret. */
export interface SettingsStore {
  readonly current: Settings;
  /** The default settings apply until they are read. */
  readonly loaded: Promise<void>;
  /** Ignores values that the page does not offer. */
  change(part: Partial<Settings>): Promise<void>;
}

export function settingsStore(): SettingsStore {
  const store = {
    current: { language: "", lockMinutes: 15, singleKeys: true, organization: "" } as Settings,
    loaded: load(),
    async change(part: Partial<Settings>) {
      await store.loaded;
      store.current = merged(store.current, part);
      await storage.save(JSON.stringify(store.current));
    },
  };
  async function load(): Promise<void> {
    // A private window stores nothing: it has the defaults.
    const text = await storage.load().catch(() => undefined);
    if (text !== undefined) store.current = merged(store.current, JSON.parse(text) as Partial<Settings>);
  }
  return store;
}

/** The values are checked: another script in the page could send anything. */
function merged(before: Settings, part: Partial<Record<keyof Settings, unknown>>): Settings {
  const { language, lockMinutes: minutes, singleKeys, organization } = part;
  return {
    language: typeof language === "string" ? language.slice(0, 2) : before.language,
    lockMinutes: lockMinutes.find((each) => each === minutes) ?? before.lockMinutes,
    singleKeys: typeof singleKeys === "boolean" ? singleKeys : before.singleKeys,
    organization: typeof organization === "string" ? organization : before.organization,
  };
}
