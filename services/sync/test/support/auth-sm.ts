import { randomUUID } from "node:crypto";
import { connectBus } from "@coffer/bus";
import type { Bus } from "@coffer/bus";
import {
  folderChanged,
  folderHolders,
  folderNewsSince,
  revokedSessions,
  sessionRevoked,
  signingKeys,
} from "@coffer/events";
import { createTelemetry } from "@coffer/telemetry";
import type { TestNats, TestScope } from "@coffer/testkit";
import { generateSigningKey, signUserToken } from "@coffer/tokens";
import type { FolderNews, SessionNews } from "../../src/pushes/push.ts";

type News = ReturnType<typeof folderNewsSince.output.parse>;

export const issuer = "https://coffer.test";

export interface Person {
  userId: string;
  sessionId: string;
}

/** The part of auth-sm that sync hears and asks. */
export interface AuthSm {
  bus: Bus;
  /** A person with a session; of somebody who is there already another session. */
  person(of?: { userId: string }): Person;
  /** A token that lives for so many seconds more. */
  token(person: Person, seconds?: number): Promise<string>;
  /** The same from a key that nobody knows. */
  forged(person: Person): Promise<string>;
  /** Who may see which folder. */
  holders: Map<string, string[]>;
  /** Called before each answer about who may. */
  beforeHolders: () => unknown;
  /** Called before each answer with the keys that tokens are signed with. */
  beforeKeys: () => unknown;
  /** What it has told of folders since a moment. Default: nothing, and the moment has no name but one. */
  folderNews: (since: string | null, after: string | null) => Partial<News> | Promise<Partial<News>>;
  /** Questions about that so far. */
  folderNewsAsked: (string | null)[];
  /** Tells these on the bus. */
  tell(...news: FolderNews[]): Promise<void>;
  /** Those that it names when it is asked which sessions have ended. */
  ended: { session_id: string; at: string }[];
  /** Says on the bus that the session has ended. */
  end(person: Person, reason: SessionNews["reason"]): Promise<void>;
}

const lifetimeSeconds = 900;

/** Answers on the bus as auth-sm does. */
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
  // A page per person, so that pages are met.
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
    folderNews: () => ({}),
    folderNewsAsked: [],
    tell: async (...news) => {
      for (const each of news) bus.publish(folderChanged, each);
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
  bus.reply(folderNewsSince, async ({ since, after }) => {
    authSm.folderNewsAsked.push(since);
    const news = await authSm.folderNews(since, after);
    return { folders: [], until: "moment", reset: false, after: null, ...news };
  });
  return authSm;
}
