import type { Bus } from "@coffer/bus";
import { folderNewsSince, newsSince } from "@coffer/events";
import type { FanOut } from "../pushes/fan-out.ts";
import type { NewsSource } from "./news-source.ts";

/** What vaults knows of records and vaults. */
export function vaultNews(bus: Bus, fanOut: FanOut): NewsSource {
  return {
    about: "vaults",
    inAnswers: true,
    ask: async (since, after) => {
      const { records, vaults, server_time, ...part } = await bus.request(newsSince, { since, after });
      const tell = (): Promise<unknown> =>
        Promise.all([
          ...records.map((news) => fanOut.records(news)),
          ...vaults.map((news) => fanOut.vault(news, true)),
        ]);
      return { ...part, until: server_time, tell };
    },
    turn: fanOut.turn.vaults,
  };
}

/** What auth-sm has told of folders. */
export function folderNews(bus: Bus, fanOut: FanOut): NewsSource {
  return {
    about: "folders",
    inAnswers: false,
    ask: async (since, after) => {
      const { folders, ...part } = await bus.request(folderNewsSince, { since, after });
      return { ...part, tell: () => Promise.all(folders.map((news) => fanOut.folder(news, true))) };
    },
    turn: fanOut.turn.folders,
  };
}
