import { randomUUID } from "node:crypto";
import { connectBus } from "@coffer/bus";
import type { Bus } from "@coffer/bus";
import { membershipOf, revokedSessions, sessionRevoked, signingKeys } from "@coffer/events";
import { createTelemetry } from "@coffer/telemetry";
import type { TestNats, TestScope } from "@coffer/testkit";
import { generateSigningKey, signUserToken } from "@coffer/tokens";

type Role = "owner" | "admin" | "auditor" | "member";

export interface Person {
  userId: string;
  sessionId: string;
  token: string;
}

/**
 * The part of auth-sm that other services ask over the bus: it signs tokens with a real key and
 * knows who is what.
 */
export interface People {
  bus: Bus;
  /** A person with a session, in these organizations, the oldest membership first. */
  add(memberships: readonly { orgId: string; role: Role; status?: "active" | "suspended" }[]): Promise<Person>;
  /** A token with the claims of that person but with this life, in seconds. */
  sign(person: Omit<Person, "token">, lifetimeSeconds: number): Promise<string>;
  /** From now on the answers say that the session has ended. */
  end(person: Person): void;
  /** Says so on the bus, and nowhere else. */
  publishRevocation(person: Person): Promise<void>;
  /** Says so to who asks which sessions have ended, and nowhere else. */
  revoke(person: Person): void;
}

export const issuer = "https://coffer.test";

/** Answers on the bus as auth-sm does. */
export async function startPeople(t: TestScope, nats: TestNats, now = () => new Date()): Promise<People> {
  const telemetry = createTelemetry({ service: "auth-sm", level: "silent" });
  const bus = connectBus({ url: nats.url, service: "auth-sm", ...nats.credentials["auth-sm"], telemetry });
  t.teardown(() => bus.close());
  const key = await generateSigningKey();
  const memberships = new Map<string, { orgId: string; role: Role; status?: "active" | "suspended" }[]>();
  const ended = new Set<string>();
  const revoked: { session_id: string; at: string }[] = [];

  bus.reply(signingKeys, () => ({ keys: [{ ...key.publicJwk, kid: key.kid }] }));
  bus.reply(revokedSessions, ({ since, after }) => {
    const left = revoked.filter(({ at }) => at >= since).slice(after === undefined ? 0 : 1);
    return { sessions: left.slice(0, 1), has_more: left.length > 1 };
  });
  bus.reply(membershipOf, ({ user_id, session_id, org_id }) => {
    if (ended.has(session_id)) return { session_active: false, has_organization: false, membership: null };
    const all = memberships.get(user_id) ?? [];
    const found = org_id === undefined ? all[0] : all.find(({ orgId }) => orgId === org_id);
    return {
      session_active: true,
      has_organization: all.length > 0,
      membership:
        found === undefined
          ? null
          : { org_id: found.orgId, role: found.role, status: found.status ?? "active", plan: "free" },
    };
  });

  const sign = ({ userId, sessionId }: Omit<Person, "token">, lifetimeSeconds: number): Promise<string> =>
    signUserToken(key, { sub: userId, sid: sessionId }, { issuer, lifetimeSeconds, now, newId: () => randomUUID() });

  return {
    bus,
    sign,
    add: async (of) => {
      const person = { userId: randomUUID(), sessionId: randomUUID() };
      memberships.set(person.userId, [...of]);
      return { ...person, token: await sign(person, 900) };
    },
    end: ({ sessionId }) => void ended.add(sessionId),
    revoke: ({ sessionId }) => {
      // Later than all that are there, so that each is its own page.
      const at = new Date(Date.now() + revoked.length).toISOString();
      revoked.push({ session_id: sessionId, at });
    },
    publishRevocation: async ({ userId, sessionId }) => {
      const at = new Date().toISOString();
      bus.publish(sessionRevoked, { session_id: sessionId, user_id: userId, at, reason: "admin_revoked" });
      await bus.flush();
    },
  };
}
