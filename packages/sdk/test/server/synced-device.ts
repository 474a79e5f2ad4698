import type { Test } from "tap";
import { type PersonClient, personClient, type Sync, type SyncChange, type SyncOptions } from "../../src/index.ts";
import { startVaultServer, type VaultServer } from "./vault-server.ts";

export interface Device {
  sync: Sync;
  heard: SyncChange[];
  /** What was heard, in short. */
  said(): string[];
  away: number[];
}

/** A device of the server's person, ended with the test. */
export async function newDevice(t: Test, server: VaultServer, options: SyncOptions = {}): Promise<Device> {
  const heard: SyncChange[] = [];
  const away: number[] = [];
  const sync = await personClient(server.session, server.url, { attempts: 1 }).sync({
    onChange: (changes) => heard.push(...changes),
    onAway: (_error, seconds) => away.push(seconds),
    ...options,
  });
  t.teardown(() => sync.stop());
  return { sync, heard, away, said: () => heard.map(inShort) };
}

function inShort(change: SyncChange): string {
  if ("record" in change) return `${change.action} ${change.record.fields["name"] ?? ""}`;
  return "vault" in change ? `${change.action} ${change.vault.name}` : change.action;
}

/** A server with another device, which writes, and a vault with so many records. */
export async function world(
  t: Test,
  records = 2,
): Promise<{ server: VaultServer; other: PersonClient; vaultId: string; ids: string[] }> {
  const server = await startVaultServer(t);
  const other = personClient(server.session, server.url);
  const { id: vaultId } = await other.vaults.create("Private");
  const items = Array.from({ length: records }, (_, index) => ({ type: "login", fields: { name: `item ${index}` } }));
  const made = await other.records.import(vaultId, items);
  server.received.length = 0;
  return { server, other, vaultId, ids: made.records.map(({ id }) => id) };
}
