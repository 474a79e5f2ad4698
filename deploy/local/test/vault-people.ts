import { newId } from "@coffer/crypto";
import { personClient } from "@coffer/sdk";
import type { OfflineStorage, PersonClient, PersonSession, Sync, SyncChange, WebSocketConstructor } from "@coffer/sdk";
import { login, register } from "@coffer/sdk/account";
import type { TestScope } from "@coffer/testkit";
import { password } from "./cli-person.ts";

/** A device of a person that follows the person's vaults. */
export interface SyncedDevice {
  me: PersonClient;
  session: PersonSession;
  sync: Sync;
  /** All that it has heard, with when (milliseconds of `performance.now()`). */
  heard: { at: number; change: SyncChange }[];
}

/** Requests of tests are repeated while a service is away. */
const patient = { attempts: 8 };

const deviceOf = (): { id: string; name: string; type: string } => ({ id: newId(), name: "test", type: "cli" });

/** A new person; with an invitation, of the organization that it is for, else an owner of a new one. */
export async function newAccount(url: string, email: string, inviteToken?: string): Promise<PersonSession> {
  const organization = inviteToken === undefined ? `Org of ${email}` : undefined;
  const { session } = await register({ url, email, password, device: deviceOf(), organization, inviteToken }, patient);
  // The invitation permits the registration; the person joins by signing with its join key.
  if (inviteToken !== undefined) await personClient(session, url, patient).invites.accept(inviteToken);
  return session;
}

/** The person's session on another device. */
export function secondSession(url: string, email: string): Promise<PersonSession> {
  return login({ url, email, password, device: deviceOf() }, patient);
}

/** Makes a device of a session, with what its storage holds, which is up to date when this resolves. `webSocket` is its own. */
export async function newDevice(
  t: TestScope,
  url: string,
  session: PersonSession,
  storage?: OfflineStorage,
  webSocket?: WebSocketConstructor,
): Promise<SyncedDevice> {
  const me = personClient(session, url, patient);
  const heard: SyncedDevice["heard"] = [];
  const sync = await me.sync({
    storage,
    webSocket,
    onChange: (changes) => {
      for (const change of changes) heard.push({ at: performance.now(), change });
    },
  });
  t.teardown(() => sync.stop());
  await sync.ready;
  return { me, session, sync, heard };
}

/** What a device holds, in a form that can be compared: every vault it sees with its records. */
export async function holdings({ sync }: SyncedDevice): Promise<Record<string, Record<string, string>>> {
  const names = new Map(sync.vaults().map(({ id, name }) => [id, name]));
  const held: Record<string, Record<string, string>> = Object.fromEntries(
    [...names.values()].map((name) => [name, {}]),
  );
  for (const { vault_id, fields } of await sync.records()) {
    const vault = held[names.get(vault_id) ?? "a vault that is not there"] ?? {};
    vault[fields["name"] ?? ""] = fields["password"] ?? "";
  }
  return Object.fromEntries(Object.entries(held).sort());
}

/** The same, as the service answers a person who asks for it. */
export async function truth(me: PersonClient): Promise<Record<string, Record<string, string>>> {
  const held = await Promise.all(
    (await me.vaults.list()).map(async ({ id, name }) => {
      const records = await me.records.list(id);
      return [name, Object.fromEntries(records.map(({ fields }) => [fields["name"] ?? "", fields["password"] ?? ""]))];
    }),
  );
  return Object.fromEntries(held.sort() as [string, Record<string, string>][]);
}
