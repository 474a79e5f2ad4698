import { folderChanged, recordsChanged, vaultChanged } from "@coffer/events";
import type { Deps } from "../deps.ts";

/** The service's surface on the bus: which event is told to whom. What cannot be told now comes with the missed news. */
export function hearChanges({ bus, log, fanOut, news }: Pick<Deps, "bus" | "log" | "fanOut" | "news">): void {
  const told = async (work: Promise<void>): Promise<void> => {
    try {
      await work;
    } catch (error) {
      log.warn({ err: error }, "a change could not be pushed: who may know of it is not known");
      news.missed();
    }
  };
  bus.subscribe(recordsChanged, (changes) => told(fanOut.records(changes)));
  bus.subscribe(vaultChanged, (change) => told(fanOut.vault(change)));
  bus.subscribe(folderChanged, (change) => told(fanOut.folder(change)));
}
