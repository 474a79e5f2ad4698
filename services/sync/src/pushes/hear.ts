import { folderChanged, recordsChanged, vaultChanged } from "@coffer/events";
import type { Deps } from "../deps.ts";
import type { MissedNews } from "../news/missed-news.ts";

type Heard = Pick<Deps, "bus" | "log" | "fanOut" | "news" | "folderNews">;

/** The service's surface on the bus: which event is told to whom. What cannot be told now comes with the missed news. */
export function hearChanges({ bus, log, fanOut, news, folderNews }: Heard): void {
  const told = async (work: Promise<void>, { missed }: MissedNews): Promise<void> => {
    try {
      await work;
    } catch (error) {
      log.warn({ err: error }, "a change could not be pushed: who may know of it is not known");
      missed();
    }
  };
  bus.subscribe(recordsChanged, (changes) => told(fanOut.records(changes), news));
  bus.subscribe(vaultChanged, (change) => told(fanOut.vault(change), news));
  bus.subscribe(folderChanged, (change) => told(fanOut.folder(change), folderNews));
}
