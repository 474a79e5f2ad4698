import { fingerprint, newKeyPair } from "@coffer/crypto";
import { type Change, type Resource, sign } from "@coffer/history";
import {
  bootstrap,
  type MachineConfiguration,
  type PersonClient,
  personClient,
  type PersonClientOptions,
} from "../../src/index.ts";
import { memoryTrust, type TrustStorage } from "../../src/trust/trust-storage.ts";
import { type HistoryServer, type Person, startHistoryServer } from "./history-server.ts";

export interface Member extends Person {
  /** What the person's first device trusts. */
  trust: TrustStorage;
  /** The same device in another process, or with `trust` another device. */
  client(options?: PersonClientOptions): PersonClient;
}

export interface Company {
  server: HistoryServer;
  organizationId: string;
  alice: Member;
  /** Invites a person, who joins. */
  join(email: string, role?: "admin" | "member"): Promise<Member>;
}

export async function memberOf(server: HistoryServer, email: string): Promise<Member> {
  const person = await server.person(email);
  const trust = memoryTrust();
  return {
    ...person,
    trust,
    client: (options = {}) => personClient(person.session, server.url, { trust, attempts: 1, ...options }),
  };
}

/** An organization whose owner is alice. */
export async function startCompany(t: { teardown(work: () => Promise<void>): void }): Promise<Company> {
  const server = await startHistoryServer(t);
  const alice = await memberOf(server, "alice@example.com");
  const { id } = await alice.client().organizations.create("Example");
  return {
    server,
    organizationId: id,
    alice,
    async join(email, role = "member") {
      const member = await memberOf(server, email);
      const { token } = await alice.client().invites.create(email, role);
      await member.client().invites.accept(token);
      return member;
    },
  };
}

/** A key pair of no member of the organization. */
export async function strangeKey(): Promise<{ publicKey: string; hex: string }> {
  const { publicKey } = await newKeyPair();
  return { publicKey, hex: (await fingerprint(publicKey)).hex };
}

/** A machine that joined folders by a token of this person. */
export async function newJoinedMachine(
  { client }: Member,
  { url }: HistoryServer,
  folderIds: readonly string[],
): Promise<MachineConfiguration> {
  const me = client();
  const [application] = await me.applications.list();
  const folders = folderIds.map((folderId) => ({ folderId, permission: "read" as const }));
  const { token } = await me.tokens.create({ applicationId: application?.id ?? "", name: "web", folders });
  return bootstrap({ url, token, save: () => Promise.resolve() });
}

/** Signs the next entry of a history as a manager of it, past all clients and checks. Returns its number. */
export async function signPastClients(
  { histories }: HistoryServer,
  { session, privateKey }: Member,
  res: Resource,
  change: Change,
): Promise<number> {
  const held = histories.get(res);
  const signed = await sign(held?.state ?? null, res, `user:${session.user.id}`, privateKey, change);
  histories.set(res, { entries: [...(held?.entries ?? []), signed.text], state: signed.state });
  return signed.state.head.seq;
}

/** Delays the first answer that `isDelayed` selects until `release`. `reached` resolves when it is due. */
export function delayOf(isDelayed: (request: { method: string; path: string }) => boolean) {
  let release = (): void => undefined;
  let reach = (): void => undefined;
  const reached = new Promise<void>((resolve) => (reach = resolve));
  const released = new Promise<void>((resolve) => (release = resolve));
  return {
    reached,
    release: () => release(),
    async of<T>(request: { method: string; path: string }, answer: T): Promise<T> {
      if (!isDelayed(request)) return answer;
      reach();
      await released;
      return answer;
    },
  };
}
