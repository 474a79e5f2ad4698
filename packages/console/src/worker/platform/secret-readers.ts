import type { AuditRecord } from "@coffer/events";
import type { PersonClient } from "@coffer/sdk";
import { auditNames } from "@coffer/sdk/audit";
import type { ReadersView, ReaderView } from "../../protocol/folders.ts";
import { codeOf } from "@coffer/sdk/code-of";
import type { Workspace } from "../workspace.ts";

const periodMilliseconds = 90 * 24 * 60 * 60 * 1000;
/** A page of the audit. Of more reads the newest are shown. */
const most = 1000;
/** The actions whose target is one secret. */
const single = ["secret.read", "secret.field.read", "secret.notation.resolved"];

/**
 * Who has read a secret in the last 90 days, by the audit. A list counts for a folder that it names, and for a machine
 * that holds the folder now: its list names no folder.
 */
export async function secretReaders(
  { client }: Workspace,
  { uid, folderId }: { uid: string; folderId: string },
): Promise<ReadersView> {
  const start = new Date(Date.now() - periodMilliseconds).toISOString();
  try {
    const [holders, ...pages] = await Promise.all([
      client.folders.holders(folderId),
      ...[...single, "secret.listed"].map((action) => newest(client, action, start)),
    ]);
    const holding = new Set(holders.map(({ id }) => id));
    const records = pages.flat().filter(({ action, actor, target, reason }) => {
      if (reason === "part") return false; // the last part of a list counts
      if (action !== "secret.listed") return target.id === uid;
      return target.type === "folder" ? target.id === folderId : holding.has(actor.id ?? "");
    });
    const oldest = pages.filter((page) => page.length === most).map((page) => page.at(-1)?.time ?? start);
    const names = await auditNames(
      client,
      records.map(({ actor }) => actor),
    );
    return { isYours: true, readers: readersOf(records, names), since: oldest.toSorted().at(-1) ?? start };
  } catch (error) {
    if (["access_denied", "plan_required"].includes(codeOf(error) ?? "")) return { isYours: false };
    throw error;
  }
}

async function newest(client: PersonClient, action: string, from: string): Promise<AuditRecord[]> {
  const { value } = await client.audit({ action, from, outcome: "success", order: "desc", limit: most }).next();
  return (value?.records ?? []) as AuditRecord[]; // shown, not relied on
}

function readersOf(records: readonly AuditRecord[], names: ReadonlyMap<string, string>): ReaderView[] {
  const readers = new Map<string, ReaderView>();
  for (const { action, actor, time, source } of records) {
    const inLists = action === "secret.listed";
    const key = `${actor.id ?? actor.type} ${String(inLists)}`;
    const known = readers.get(key);
    const name = names.get(actor.id ?? "") ?? actor.id ?? actor.type;
    const newest = known !== undefined && known.lastAt > time ? known : { lastAt: time, ip: source.ip ?? null };
    const { lastAt, ip } = newest;
    readers.set(key, { name, isMachine: actor.type === "client", inLists, count: (known?.count ?? 0) + 1, lastAt, ip });
  }
  return [...readers.values()].sort((a, b) => (a.lastAt < b.lastAt ? 1 : -1));
}
