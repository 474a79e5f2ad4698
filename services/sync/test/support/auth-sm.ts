import { randomUUID } from "node:crypto";
import { type Bus, connectBus } from "@coffer/bus";
import {
  folderChanged,
  folderHolders,
  folderCatchUpSince,
  revokedSessions,
  sessionRevoked,
  signingKeys,
} from "@coffer/events";
import { createTelemetry } from "@coffer/telemetry";
import type { TestNats, TestScope } from "@coffer/testkit";
import { generateSigningKey, signUserToken } from "@coffer/tokens";
import type { FolderEvent, SessionEvent } from "../../src/pushes/push.ts";

type FolderCatchUp = ReturnType<typeof folderCatchUpSince.output.parse>;

export const issuer = "https://coffer.test";

export interface Person {
  userId: string;
  sessionId: string;
}

/** The part of auth-sm that sync uses. */
export interface AuthSm {
  bus: Bus;
  /** A person with a session; for a known person, another session. */
  person(of?: { userId: string }): Person;
  /** A token with this lifetime in seconds. */
  token(person: Person, seconds?: number): Promise<string>;
  /** A token signed with an unknown key. */
  forged(person: Person): Promise<string>;
  /** The holders of each folder. */
  holders: Map<string, string[]>;
  /** Called before each response about holders. */
  beforeHolders: () => unknown;
  /** Called before each response with the signing keys. */
  beforeKeys: () => unknown;
  /** The folder changes since a moment. Default: none, always at one moment. */
  folderCatchUp: (
    since: string | null,
    after: string | null,
  ) => Partial<FolderCatchUp> | Promise<Partial<FolderCatchUp>>;
  /** The catch-up requests so far. */
  folderCatchUpRequests: (string | null)[];
  /** Publishes events. */
  publish(...events: FolderEvent[]): Promise<void>;
  /** The revoked sessions that it lists. */
  ended: { session_id: string; at: string }[];
  /** Publishes the end of the session. */
  end(person: Person, reason: SessionEvent["reason"]): Promise<void>;
}

const lifetimeSeconds = 900;

/** Replies on the bus as auth-sm does. */
export async function startAuthSm(t: TestScope, nats: TestNats): Promise<AuthSm> {
  const telemetry = createTelemetry({ service: "auth-sm", level: "silent" });
  const bus = connectBus({ url: nats.url, service: "auth-sm", ...nats.credentials["auth-sm"], telemetry });
  t.teardown(() => bus.close());
  const [key, otherKey] = await Promise.all([generateSigningKey(), generateSigningKey()]);
  const holders: AuthSm["holders"] = new Map();
  const ended: AuthSm["ended"] = [];

  bus.reply(signingKeys, async () => {
    await authSm.beforeKeys();
    return { keys: [{ ...key.publicJwk, kid: key.kid }] };
  });
  bus.reply(revokedSessions, ({ since }) => ({ sessions: ended.filter(({ at }) => at >= since), has_more: false }));
  // A page per person, so that tests have several.
  bus.reply(folderHolders, async ({ folder_id, after }) => {
    await authSm.beforeHolders();
    const all = holders.get(folder_id) ?? [];
    const at = after === null ? 0 : Number(after);
    return { user_ids: all.slice(at, at + 1), after: at + 1 < all.length ? String(at + 1) : null };
  });

  const sign = (by: typeof key, { userId, sessionId }: Person, seconds: number): Promise<string> =>
    signUserToken(
      by,
      { sub: userId, sid: sessionId },
      {
        issuer,
        lifetimeSeconds,
        now: () => new Date(Date.now() - (lifetimeSeconds - seconds) * 1000),
        newId: () => randomUUID(),
      },
    );
  const authSm: AuthSm = {
    bus,
    holders,
    beforeHolders: () => undefined,
    beforeKeys: () => undefined,
    folderCatchUp: () => ({}),
    folderCatchUpRequests: [],
    publish: async (...events) => {
      for (const each of events) bus.publish(folderChanged, each);
      await bus.flush();
    },
    ended,
    person: ({ userId } = { userId: randomUUID() }) => ({ userId, sessionId: randomUUID() }),
    token: (person, seconds = lifetimeSeconds) => sign(key, person, seconds),
    forged: (person) => sign({ ...otherKey, kid: key.kid }, person, lifetimeSeconds),
    end: async ({ userId, sessionId }, reason) => {
      const at = new Date().toISOString();
      bus.publish(sessionRevoked, { session_id: sessionId, user_id: userId, at, reason });
      await bus.flush();
    },
  };
  bus.reply(folderCatchUpSince, async ({ since, after }) => {
    authSm.folderCatchUpRequests.push(since);
    const missed = await authSm.folderCatchUp(since, after);
    return { folders: [], until: "moment", reset: false, after: null, ...missed };
  });
  return authSm;
}
