import { randomUUID } from "node:crypto";
import { catchUpSince, changesSince, type RecordChange, type RecordDeletion } from "@coffer/events";
import { until } from "@coffer/testkit";
import type { z } from "zod";
import { call } from "./call.ts";
import type { Person } from "./people.ts";
import type { TestVaults } from "./service.ts";
import { newVault, sealed } from "./vaults.ts";

/** A part of a response, with parsed changes. */
export type SyncPart = Omit<z.infer<typeof changesSince.output>, "change_lengths" | "changes"> & {
  changes: RecordChange[];
};
export type CatchUp = z.infer<typeof catchUpSince.output>;
type Listening = Pick<TestVaults, "listeners">;

type Request = "after" | "connection_id" | "last_sync" | "limit" | "only_deleted" | "request_id";

/** Longer than the default, so that a busy machine does not fail a test. */
const patience = { timeoutMilliseconds: 20_000 };

/** The response to a device, combined from its parts. */
export interface Synced {
  changes: RecordChange[];
  deleted: RecordDeletion[];
  server_time: string;
  has_more: boolean;
  reset: boolean;
  parts: number;
  /** Identifies its audit records. */
  requestId: string;
}

/** The parsed changes of a part. Throws if a length does not match its change. */
export function changesOf({
  changes,
  change_lengths,
}: Pick<z.infer<typeof changesSince.output>, "change_lengths" | "changes">): RecordChange[] {
  let at = 0;
  return change_lengths.map((length) => {
    const text = Buffer.from(changes.subarray(at, at + length)).toString("utf8");
    at += length + 1;
    return JSON.parse(text) as RecordChange; // the tests compare its fields
  });
}

/** One part, as sync requests it: on the only connection of the person's session by default. */
export async function part(
  { listeners }: Listening,
  { userId, sessionId }: Person,
  input: Partial<Pick<z.infer<typeof changesSince.input>, Request>> = {},
): Promise<SyncPart> {
  const who = { user_id: userId, session_id: sessionId, ip: "192.0.2.7", user_agent: "device/1" };
  const request = { last_sync: null, limit: null, after: null, request_id: randomUUID(), connection_id: sessionId };
  const { changes, change_lengths, ...rest } = await listeners.sync.request(
    changesSince,
    { ...who, ...request, ...input },
    patience,
  );
  return { ...rest, changes: changesOf({ changes, change_lengths }) };
}

/** All changes since `last_sync`; without it, everything. */
export async function sync(
  service: Listening,
  person: Person,
  last_sync: string | null = null,
  limit: number | null = null,
  connection_id = person.sessionId,
): Promise<Synced> {
  const request_id = randomUUID();
  const changes: RecordChange[] = [];
  const deleted: RecordDeletion[] = [];
  let after: string | null = null;
  for (let parts = 1; ; parts += 1) {
    const got: SyncPart = await part(service, person, { last_sync, limit, after, request_id, connection_id });
    changes.push(...got.changes);
    deleted.push(...got.deleted);
    ({ after } = got);
    const { server_time, has_more, reset } = got;
    if (after === null) return { changes, deleted, server_time, has_more, reset, parts, requestId: request_id };
  }
}

/** A moment after all running transactions have ended: a sync from it repeats nothing. */
export function quiet(service: Listening, person: Person): Promise<string> {
  return until("nothing is repeated", async () => {
    const { server_time } = await sync(service, person);
    const again = await sync(service, person, server_time);
    return again.changes.length + again.deleted.length === 0 ? server_time : null;
  });
}

/** All events since a moment, combined from their parts. */
export async function catchUp({ listeners }: Listening, since: string | null): Promise<CatchUp & { parts: number }> {
  const records: CatchUp["records"] = [];
  const vaults: CatchUp["vaults"] = [];
  let after: string | null = null;
  for (let parts = 1; ; parts += 1) {
    const got: CatchUp = await listeners.sync.request(catchUpSince, { since, after }, patience);
    records.push(...got.records);
    vaults.push(...got.vaults);
    ({ after } = got);
    if (after === null) return { ...got, records, vaults, parts };
  }
}

/** The ids, sorted. */
export const idsOf = (items: readonly { id: string }[]): string[] => items.map(({ id }) => id).sort();

/** A person with a vault of `count` records of `bytes` bytes each. */
export async function holderOf(service: TestVaults, count: number, bytes = 12) {
  const orgId = randomUUID();
  const owner = await service.people.add({ orgId, role: "owner" });
  const vault = await newVault(service, owner);
  for (let made = 0; made < count; made += 1000) {
    const records = Array.from({ length: Math.min(1000, count - made) }, () => ({
      type: "login",
      encrypted_data: sealed(bytes),
    }));
    await call(service, owner, "POST", `/api/vaults/${vault.id}/import`, { body: { records } });
  }
  return { orgId, owner, vault };
}

/** All pages of a response. */
export async function pages(
  service: Listening,
  person: Person,
  last_sync: string | null,
  limit: number,
): Promise<Synced[]> {
  const all: Synced[] = [];
  for (let from = last_sync; ;) {
    const page = await sync(service, person, from, limit);
    all.push(page);
    if (!page.has_more) return all;
    from = page.server_time;
  }
}
