import { newId } from "@coffer/crypto";
import {
  type OfflineStorage,
  personClient,
  type PersonClient,
  type PersonSession,
  type Sync,
  type SyncChange,
  type WebSocketConstructor,
} from "@coffer/sdk";
import { login, register } from "@coffer/sdk/account";
import type { TestScope } from "@coffer/testkit";
import { password } from "./cli/cli-person.ts";

/** A device of a person that follows the person's vaults. */
export interface SyncedDevice {
  me: PersonClient;
  session: PersonSession;
  sync: Sync;
  /** All received changes, with their times (milliseconds of `performance.now()`). */
  received: { at: number; change: SyncChange }[];
}

/** Requests of tests are repeated while a service is away. */
const patient = { attempts: 8 };

const deviceOf = (): { id: string; name: string; type: string } => ({ id: newId(), name: "test", type: "cli" });

/** A new person; with an invitation of its organization, else an owner of a new one. */
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

/** A device of a session with this storage, up to date when this resolves. `webSocket` is its own. */
export async function newDevice(
  t: TestScope,
  url: string,
  session: PersonSession,
  storage?: OfflineStorage,
  webSocket?: WebSocketConstructor,
): Promise<SyncedDevice> {
  const me = personClient(session, url, patient);
  const received: SyncedDevice["received"] = [];
  const sync = await me.sync({
    storage,
    webSocket,
    onChange: (changes) => {
      for (const change of changes) received.push({ at: performance.now(), change });
    },
  });
  t.teardown(() => sync.stop());
  await sync.ready;
  return { me, session, sync, received };
}

/** The content of a device in a comparable form: every visible vault with its records. */
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

/** The same from the service. */
export async function truth(me: PersonClient): Promise<Record<string, Record<string, string>>> {
  const held = await Promise.all(
    (await me.vaults.list()).map(async ({ id, name }) => {
      const records = await me.records.list(id);
      return [name, Object.fromEntries(records.map(({ fields }) => [fields["name"] ?? "", fields["password"] ?? ""]))];
    }),
  );
  return Object.fromEntries(held.sort() as [string, Record<string, string>][]);
}
