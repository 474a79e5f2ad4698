import { randomUUID } from "node:crypto";
import { type Bus, connectBus } from "@coffer/bus";
import { ServiceError } from "@coffer/errors";
import {
  type Membership,
  membershipChanged,
  membershipOf,
  memberships,
  namedMemberships,
  revokedSessions,
  type RpcSubject,
  sessionRevoked,
  signingKeys,
} from "@coffer/events";
import { createTelemetry } from "@coffer/telemetry";
import { type TestNats, type TestScope, until } from "@coffer/testkit";
import { generateSigningKey, signUserToken } from "@coffer/tokens";
import { z } from "zod";

export type Role = Membership["role"];

export interface Person {
  userId: string;
  sessionId: string;
  token: string;
}

/** A membership without the person and the version. */
export type Place = { orgId: string; role: Role } & Partial<
  Pick<Membership, "status" | "name" | "email" | "joined_at">
>;

/** Stands in for auth-sm: it signs tokens with a real key and answers for memberships. */
export interface People {
  bus: Bus;
  /** Adds a person with a session and these memberships, and publishes them. */
  add(...places: Place[]): Promise<Person>;
  /** Adds or changes a membership, and publishes it unless `publish` is false. */
  place(person: Person, place: Place, options?: { publish?: boolean }): Promise<Membership>;
  /** Ends a membership, and publishes it unless `publish` is false. */
  remove(person: Person, orgId: string, options?: { publish?: boolean }): Promise<Membership>;
  /** Leaves this membership out of the pages from now on. */
  hide(membership: Membership): void;
  /** Publishes memberships again, once vaults listens. Returns how many vaults applied. */
  publish(...published: Membership[]): Promise<number>;
  /** A token of the person with this lifetime in seconds. */
  sign(person: Omit<Person, "token">, lifetimeSeconds: number): Promise<string>;
  /** Publishes the end of the session. */
  revoke(person: Person): Promise<void>;
  /** How many pages of memberships were requested. */
  pagesRequested(): number;
  /** How often memberships were requested by name. */
  namedRequested(): number;
  /** Whether it refuses requests for memberships, though it is on the bus. */
  silence(silent: boolean): void;
  /** Returns to this moment, as from a dump of the database: versions begin again after it too. */
  dump(): () => void;
}

export const issuer = "https://coffer.test";
const pageSize = 3;

/** The RPC subject with any output, for roles that only a newer auth-sm knows. */
function ofAnyVersion<Input, Output>(subject: RpcSubject<Input, Output>): RpcSubject<Input, unknown> {
  return { ...subject, output: z.unknown() };
}

/** Answers on the bus as auth-sm does. */
export async function startPeople(t: TestScope, nats: TestNats): Promise<People> {
  const telemetry = createTelemetry({ service: "auth-sm", level: "silent" });
  const bus = connectBus({ url: nats.url, service: "auth-sm", ...nats.credentials["auth-sm"], telemetry });
  t.teardown(() => bus.close());
  const key = await generateSigningKey();
  const all = new Map<string, Membership>();
  let version = 0;
  let joined = 0;
  let pages = 0;
  let named = 0;
  let silent = false;
  const keyOf = (orgId: string, userId: string): string => `${orgId} ${userId}`;

  bus.reply(signingKeys, () => ({ keys: [{ ...key.publicJwk, kid: key.kid }] }));
  bus.reply(revokedSessions, () => ({ sessions: [], has_more: false }));
  bus.reply(membershipOf, ({ user_id, org_id }) => {
    const own = [...all.values()].filter((each) => each.user_id === user_id);
    const found = org_id === undefined ? own[0] : own.find((each) => each.org_id === org_id);
    const status = found?.status === "suspended" ? "suspended" : "active";
    return {
      session_active: true,
      has_organization: own.length > 0,
      membership: found === undefined ? null : { org_id: found.org_id, role: found.role, status, plan: "free" },
    };
  });
  bus.reply(ofAnyVersion(namedMemberships), ({ named: requested }) => {
    named += 1;
    if (silent) throw new ServiceError("unavailable", "not now");
    return { memberships: requested.flatMap(({ org_id, user_id }) => all.get(keyOf(org_id, user_id)) ?? []) };
  });
  bus.reply(ofAnyVersion(memberships), ({ after }) => {
    pages += 1;
    if (silent) throw new ServiceError("unavailable", "not now");
    const [asOf, place] = after === null ? [version, ""] : (JSON.parse(after) as [number, string]); // the cursor of the previous page
    const keys = [...all.keys()].sort().filter((each) => each > place);
    const page = keys.slice(0, pageSize);
    return {
      memberships: page.flatMap((each) => all.get(each) ?? []),
      as_of: asOf,
      after: keys.length > page.length ? JSON.stringify([asOf, page.at(-1)]) : null,
    };
  });

  const sign: People["sign"] = ({ userId, sessionId }, lifetimeSeconds) =>
    signUserToken(
      key,
      { sub: userId, sid: sessionId },
      { issuer, lifetimeSeconds, now: () => new Date(), newId: () => randomUUID() },
    );
  const publish: People["publish"] = async (...published) => {
    const { kept } = await bus.request(membershipChanged, { memberships: published }, { timeoutMilliseconds: 20_000 });
    return kept;
  };
  const place: People["place"] = async ({ userId }, { orgId, role, ...rest }, { publish: published = true } = {}) => {
    const before = all.get(keyOf(orgId, userId));
    const membership: Membership = {
      status: "active",
      name: `Person ${userId.slice(0, 4)}`,
      email: `${userId.slice(0, 4)}@example.com`,
      joined_at: before?.joined_at ?? new Date(1_700_000_000_000 + ++joined).toISOString(),
      ...rest,
      org_id: orgId,
      user_id: userId,
      role,
      version: ++version,
    };
    all.set(keyOf(orgId, userId), membership);
    if (published) await publish(membership);
    return membership;
  };

  await until("the bus", () => bus.connected);
  return {
    bus,
    sign,
    publish,
    place,
    add: async (...places) => {
      const ids = { userId: randomUUID(), sessionId: randomUUID() };
      const person = { ...ids, token: await sign(ids, 900) };
      for (const each of places) await place(person, each);
      return person;
    },
    remove: async ({ userId }, orgId, { publish: published = true } = {}) => {
      const before = all.get(keyOf(orgId, userId));
      if (before === undefined) throw new Error("not a member");
      all.delete(keyOf(orgId, userId));
      const membership: Membership = { ...before, status: "removed", version: ++version };
      if (published) await publish(membership);
      return membership;
    },
    hide: ({ org_id, user_id }) => void all.delete(keyOf(org_id, user_id)),
    revoke: async ({ userId, sessionId }) => {
      const at = new Date().toISOString();
      bus.publish(sessionRevoked, { session_id: sessionId, user_id: userId, at, reason: "admin_revoked" });
      await bus.flush();
    },
    pagesRequested: () => pages,
    namedRequested: () => named,
    silence: (now) => void (silent = now),
    dump: () => {
      const [then, versionThen] = [new Map(all), version];
      return () => {
        all.clear();
        for (const [key, membership] of then) all.set(key, membership);
        version = versionThen;
      };
    },
  };
}
