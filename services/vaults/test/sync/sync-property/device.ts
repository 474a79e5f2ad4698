import { randomUUID } from "node:crypto";
import { ServiceError } from "@coffer/errors";
import type { Random } from "@coffer/testkit";
import { listChanges } from "../../../src/sync/changes.ts";
import { changesOf, type SyncPart } from "../../support/sync.ts";
import type { Oracle } from "./oracle.ts";
import type { Replica } from "./replica.ts";

/** A device of a person: its records, and those that it should not have received. */
export interface Device {
  readonly userId: string;
  /** Its records, with their server timestamps. */
  readonly records: ReadonlyMap<string, string>;
  readonly leaks: ReadonlySet<string>;
  /** One `sync_request` with its response, which may be lost. Returns whether the sync is complete. */
  sync(how: { limit: number | null; losesAnswers: boolean }): Promise<boolean>;
  /** Continues on another connection: pushes of the former one no longer arrive. */
  reconnect(): void;
}

type Size = Parameters<typeof listChanges>[2];

/** A random replica answers each part. */
export function createDevice(
  userId: string,
  { random, replicas, oracle }: { random: Random; replicas: readonly Replica[]; oracle: Oracle },
): Device {
  const records = new Map<string, string>();
  const leaks = new Set<string>();
  const session_id = randomUUID();
  let last_sync: string | null = null;
  let connection_id: string = randomUUID();

  /** Null if the service does not answer. */
  const request = async (limit: number | null, after: string | null, size: Size): Promise<SyncPart | null> => {
    const { deps } = replicas[random.below(replicas.length)] ?? { deps: undefined };
    if (deps === undefined) throw new TypeError("there are no replicas");
    const who = { user_id: userId, session_id, request_id: randomUUID(), ip: "192.0.2.1", user_agent: null };
    const received = await listChanges(deps, { ...who, connection_id, last_sync, limit, after }, size).catch(
      (error: unknown) => {
        if (error instanceof ServiceError && error.code === "unavailable") return null;
        throw error;
      },
    );
    if (received === null) return null;
    const part = { ...received, changes: changesOf(received) };
    const named = [...part.changes, ...part.deleted].map(({ id }) => id);
    for (const id of await oracle.neverSeen(userId, named)) leaks.add(id);
    return part;
  };

  const apply = ({ changes, deleted }: SyncPart): void => {
    for (const { id, updated_at } of changes) {
      const held = records.get(id);
      if (held === undefined || held <= updated_at) records.set(id, updated_at);
    }
    for (const { id } of deleted) records.delete(id);
  };

  return {
    userId,
    records,
    leaks,
    reconnect() {
      connection_id = randomUUID();
    },
    async sync({ limit, losesAnswers }) {
      if (last_sync === null) records.clear();
      // Small, so that most responses have many parts.
      const size = { entries: 1 + random.below(8), bytes: 1024 * 1024 };
      let after: string | null = null;
      for (let isFirst = true; ; isFirst = false) {
        const part: SyncPart | null = await request(limit, after, size);
        // Lost before or after it was applied: both leave the device at its last sync.
        if (part === null || (losesAnswers && random.chance(0.1))) return false;
        if (part.reset && isFirst) records.clear();
        apply(part);
        if (losesAnswers && random.chance(0.1)) return false;
        ({ after } = part);
        if (after !== null) continue;
        last_sync = part.server_time;
        return !part.has_more;
      }
    },
  };
}
