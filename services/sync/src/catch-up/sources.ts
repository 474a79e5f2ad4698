import type { Bus } from "@coffer/bus";
import { folderCatchUpSince, catchUpSince } from "@coffer/events";
import type { FanOut } from "../pushes/fan-out.ts";
import type { CatchUpSource } from "./source.ts";

/** Records and vaults, from vaults. */
export function vaultSource(bus: Bus, fanOut: FanOut): CatchUpSource {
  return {
    about: "vaults",
    inAnswers: true,
    read: async (since, after) => {
      const { records, vaults, server_time, ...page } = await bus.request(catchUpSince, { since, after });
      const push = (): Promise<unknown> =>
        Promise.all([
          ...records.map((event) => fanOut.records(event)),
          ...vaults.map((event) => fanOut.vault(event, true)),
        ]);
      return { ...page, until: server_time, push };
    },
    rotate: fanOut.rotate.vaults,
  };
}

/** Folders, from auth-sm. */
export function folderSource(bus: Bus, fanOut: FanOut): CatchUpSource {
  return {
    about: "folders",
    inAnswers: false,
    read: async (since, after) => {
      const { folders, ...page } = await bus.request(folderCatchUpSince, { since, after });
      return { ...page, push: () => Promise.all(folders.map((event) => fanOut.folder(event, true))) };
    },
    rotate: fanOut.rotate.folders,
  };
}
