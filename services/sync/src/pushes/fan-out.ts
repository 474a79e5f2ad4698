import { span } from "@coffer/telemetry";
import type { Connections } from "../connections/connections.ts";
import type { SyncMetrics } from "../metrics.ts";
import type { Audience } from "./audience.ts";
import type { FolderNews, Push, RecordNews, VaultNews } from "./push.ts";
import { folderPush, recordKey, recordPush, vaultPush } from "./push.ts";
import { createRecent } from "./recent.ts";

/** Tells the devices here what has changed, as far as their people may know of it when it is sent. */
export interface FanOut {
  /**
   * These reject when nobody can be asked who may know; nobody was told anything then. `again`: these are no events but
   * what may have been missed of them.
   */
  records(news: RecordNews): Promise<void>;
  vault(news: VaultNews, again?: boolean): Promise<void>;
  folder(news: FolderNews, again?: boolean): Promise<void>;
  /** A while has passed: what was told longer ago than the last while may be told again. */
  readonly turn: Readonly<Record<"vaults" | "folders", () => void>>;
}

const nobody = (): readonly string[] => [];

/** Each message is made once and given to every connection of everybody who may know. */
export function createFanOut({
  audience,
  connections,
  metrics,
}: {
  audience: Audience;
  connections: Connections;
  metrics: Pick<SyncMetrics, "pushed">;
}): FanOut {
  const recent = createRecent();
  const recentOfFolders = createRecent();

  function send(users: Iterable<string>, pushes: readonly Push[]): void {
    span("push", { "coffer.sync.pushes": pushes.length }, "internal", (active) => {
      let count = 0;
      for (const user of users)
        for (const connection of connections.ofUser(user)) {
          connection.push(pushes);
          count += 1;
        }
      active.setAttribute("coffer.sync.connections", count);
    });
  }

  return {
    records: async ({ vault_id, changes }) => {
      const isNew = ({ record_id, updated_at }: (typeof changes)[number]): boolean =>
        !recent.has(recordKey(vault_id, record_id), updated_at);
      if (connections.size === 0 || !changes.some(isNew)) return;
      const viewers = await audience.ofVault(vault_id);
      // Looked at again: the same may have come on another way meanwhile.
      const fresh = changes.filter(isNew);
      send(
        viewers,
        fresh.map((change) => recordPush(vault_id, change)),
      );
      for (const { record_id, updated_at } of fresh) {
        recent.note(recordKey(vault_id, record_id), updated_at);
        metrics.pushed(updated_at);
      }
    },

    vault: async (news, again = false) => {
      const { action, vault_id, updated_at, user_ids, except } = news;
      const everybody = `vault ${vault_id}`;
      const sightOf = (user: string): string => `${user} ${vault_id}`;
      const changeOf = (user: string): string => `change ${user} ${vault_id}`;
      const isUpdate = action === "vault_updated";
      // The times at which a person is given a vault and loses it only grow: what is no later than what the person was
      // told last is out of date, or was told. When the vault itself was changed says nothing of that, but what is made up
      // for is nothing to who was given it later.
      const isKnown = (user: string): boolean => {
        if (!isUpdate) return recent.has(sightOf(user), updated_at);
        return again && [everybody, changeOf(user), sightOf(user)].some((thing) => recent.has(thing, updated_at));
      };
      // Whom the change has given the vault is told that.
      const given = new Set(except);
      // Nobody is asked for the sake of who is not here: whoever connects finds it as it is.
      const isConcerned = (user: string): boolean => connections.hasUser(user) && !given.has(user) && !isKnown(user);
      if (connections.size === 0 || user_ids?.some(isConcerned) === false) return;
      // Who has lost it is told by name, unless they see it again by now; when nobody can be asked, all of them are. And what
      // was asked before is then sent before, so that nothing of the vault follows its end.
      const isEnd = action === "vault_deleted";
      const asked = audience.ofVault(vault_id);
      const viewers = await (isEnd ? asked.catch(nobody) : asked);
      const sees = new Set(viewers);
      const told = (user_ids ?? viewers).filter((user) => isConcerned(user) && sees.has(user) !== isEnd);
      send(told, [vaultPush(news)]);
      if (user_ids === null) recent.note(everybody, updated_at);
      // Only of whom it was told to: to the others it is told when it is heard of once more and they may know.
      else for (const user of told) recent.note(isUpdate ? changeOf(user) : sightOf(user), updated_at);
      metrics.pushed(updated_at);
    },

    folder: async (news, again = false) => {
      const { folder_id, change, updated_at, user_ids } = news;
      const id = news.id ?? `${folder_id} ${change} ${updated_at}`;
      // By its own id: of two changes of one folder the earlier may be heard of after the later.
      const isKnown = (): boolean => again && recentOfFolders.has(id, updated_at);
      if (connections.size === 0 || isKnown()) return;
      const holders = await audience.ofFolder(folder_id);
      if (isKnown()) return;
      send(new Set([...holders, ...user_ids]), [folderPush(news)]);
      recentOfFolders.note(id, updated_at);
      metrics.pushed(updated_at);
    },

    turn: { vaults: recent.turn, folders: recentOfFolders.turn },
  };
}
