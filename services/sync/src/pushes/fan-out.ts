import { span } from "@coffer/telemetry";
import type { Connections } from "../connections/connections.ts";
import type { SyncMetrics } from "../metrics.ts";
import type { Audience } from "./audience.ts";
import {
  type FolderEvent,
  folderPush,
  type Push,
  type RecordEvent,
  recordKey,
  recordPush,
  type VaultEvent,
  vaultPush,
} from "./push.ts";
import { createRecent } from "./recent.ts";

/** Pushes changes to the connected devices of the people who may see them at that moment. */
export interface FanOut {
  /**
   * The functions reject, and push nothing, if the audience is unknown. `again`: the change comes
   * from catch-up and may have been pushed.
   */
  records(event: RecordEvent): Promise<void>;
  vault(event: VaultEvent, again?: boolean): Promise<void>;
  folder(event: FolderEvent, again?: boolean): Promise<void>;
  /** Drops the memory of pushes from before the previous call. */
  readonly rotate: Readonly<Record<"vaults" | "folders", () => void>>;
}

const none = (): readonly string[] => [];

/** Encodes each message once and sends it to every entitled connection. */
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
      // Checked again: it may have been pushed meanwhile.
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

    vault: async (event, again = false) => {
      const { action, vault_id, updated_at, user_ids, except } = event;
      const everyone = `vault ${vault_id}`;
      const visibilityOf = (user: string): string => `${user} ${vault_id}`;
      const changeOf = (user: string): string => `change ${user} ${vault_id}`;
      const isUpdate = action === "vault_updated";
      // Times of visibility only grow for each person: an event that is not later than the last
      // push is stale. A catch-up event that is older than the person's visibility is skipped.
      const isKnown = (user: string): boolean => {
        if (!isUpdate) return recent.has(visibilityOf(user), updated_at);
        return again && [everyone, changeOf(user), visibilityOf(user)].some((key) => recent.has(key, updated_at));
      };
      // They receive `vault_created` for this change.
      const given = new Set(except);
      // No request for people without connections: a new connection reads the present state.
      const isConcerned = (user: string): boolean => connections.hasUser(user) && !given.has(user) && !isKnown(user);
      if (connections.size === 0 || user_ids?.some(isConcerned) === false) return;
      // `vault_deleted` goes to each named person who has not regained visibility; to all of them
      // if vaults is away. Requests are answered in order, so that no push of the vault follows its
      // end.
      const isEnd = action === "vault_deleted";
      const request = audience.ofVault(vault_id);
      const viewers = await (isEnd ? request.catch(none) : request);
      const sees = new Set(viewers);
      const recipients = (user_ids ?? viewers).filter((user) => isConcerned(user) && sees.has(user) !== isEnd);
      send(recipients, [vaultPush(event)]);
      if (user_ids === null) recent.note(everyone, updated_at);
      // Only for the recipients: others receive it when it is repeated and they may see it.
      else for (const user of recipients) recent.note(isUpdate ? changeOf(user) : visibilityOf(user), updated_at);
      metrics.pushed(updated_at);
    },

    folder: async (event, again = false) => {
      const { folder_id, change, updated_at, user_ids } = event;
      const id = event.id ?? `${folder_id} ${change} ${updated_at}`;
      // By its own id: the earlier of two changes may arrive later.
      const isKnown = (): boolean => again && recentOfFolders.has(id, updated_at);
      if (connections.size === 0 || isKnown()) return;
      const holders = await audience.ofFolder(folder_id);
      if (isKnown()) return;
      send(new Set([...holders, ...user_ids]), [folderPush(event)]);
      recentOfFolders.note(id, updated_at);
      metrics.pushed(updated_at);
    },

    rotate: { vaults: recent.rotate, folders: recentOfFolders.rotate },
  };
}
