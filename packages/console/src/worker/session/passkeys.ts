import {
  box,
  contexts,
  decodeBase64,
  decodeText,
  encodeBase64,
  encodeText,
  passkeyKey,
  unboxBound,
} from "@coffer/crypto";
import type { OfflineStorage, PersonSession } from "@coffer/sdk";
import { indexedDbStorage } from "@coffer/sdk/browser";
import type { PasskeyAnswer, PasskeyView } from "../../protocol/session.ts";
import type { LockKey } from "./lock.ts";

/** What a passkey opens: a session, and the key of its lock. */
export interface KeptSession {
  session: PersonSession;
  key: LockKey;
}

interface StoredPasskey extends PasskeyView {
  /** The user key, under a key from the passkey. */
  userKey: string;
  /** The session without the user key, under the user key: each renewal of its tokens is stored without the passkey. */
  session: string;
}

/** By the ids of their persons: each has one at most. */
type Stored = Record<string, StoredPasskey>;

export interface Passkeys {
  readonly loaded: Promise<void>;
  /** Reads them again, after another worker has changed them. */
  read(): Promise<void>;
  /** The ids of the persons that have one. */
  persons(): string[];
  /** Of one person, or of all. */
  shown(userId: string | undefined): PasskeyView[];
  /** Adds it unless `kept` says that the session has ended. */
  add(
    passkey: PasskeyAnswer & Pick<PasskeyView, "salt" | "name">,
    kept: () => Promise<KeptSession | null>,
  ): Promise<void>;
  /** Null when the passkey opens nothing. Clears the answer. */
  open(answer: PasskeyAnswer): Promise<KeptSession | null>;
  /** Changes what the person's passkey opens, if there is one. Throws when it was sealed under another user key. */
  keep(session: PersonSession, change: (kept: KeptSession) => KeptSession): Promise<void>;
  /**
   * Renews a session's tokens with `refresh`, and stores them. If another worker has done so, returns what that has
   * stored: a refresh token that is used twice ends the session.
   */
  renew(session: PersonSession, refresh: (session: PersonSession) => Promise<PersonSession>): Promise<PersonSession>;
  remove(userIds: readonly string[]): Promise<void>;
}

const database = "coffer passkeys";

/** The passkeys of this browser. `changed` is called when they have changed here. */
export function passkeyStore(
  changed: () => void,
  storage: Pick<OfflineStorage, "load" | "save"> = indexedDbStorage(database),
): Passkeys {
  let stored: Stored = {};
  const load = async (): Promise<Stored> => JSON.parse((await storage.load()) ?? "{}") as Stored; // nothing else writes it
  const read = async (): Promise<void> => {
    // A private window stores nothing.
    stored = await load().catch(() => ({}));
  };

  /** One change at a time, also of other workers of this origin. Stores nothing when `work` returns false. */
  const change = (work: (all: Stored) => Promise<boolean> | boolean): Promise<void> =>
    navigator.locks.request(database, async () => {
      const all = await load();
      if (!(await work(all))) return;
      await storage.save(JSON.stringify(all));
      stored = all;
      changed();
    });

  const keep: Passkeys["keep"] = ({ user, user_key: userKey }, work) =>
    change(async (all) => {
      const passkey = all[user.id];
      if (passkey === undefined) return false;
      passkey.session = await sealed(work(await unsealed(userKey, user.id, passkey)));
      return true;
    });

  return {
    loaded: read(),
    read,
    persons: () => Object.keys(stored),
    shown: (userId) =>
      Object.entries(stored)
        .filter(([id]) => userId === undefined || id === userId)
        .map(([, { id, salt, name, addedAt }]) => ({ id, salt, name, addedAt })),
    add: ({ id, salt, name, prf }, kept) =>
      change(async (all) => {
        const key = await keyOf(prf);
        const current = await kept();
        if (current === null) return false;
        const { user, user_key: userKey } = current.session;
        all[user.id] = {
          ...{ id, salt, name, addedAt: new Date().toISOString() },
          userKey: await box(key, decodeBase64(userKey), contexts.passkey(user.id)),
          session: await sealed(current),
        };
        return true;
      }),
    async open({ id, prf }) {
      const key = await keyOf(prf);
      for (const [userId, passkey] of Object.entries(await load())) {
        if (passkey.id !== id) continue;
        try {
          const userKey = await unboxBound(key, passkey.userKey, contexts.passkey(userId));
          return await unsealed(encodeBase64(userKey), userId, passkey);
        } catch {
          return null;
        }
      }
      return null;
    },
    keep,
    renew: (session, refresh) =>
      navigator.locks.request(`${database} ${session.session_id}`, async () => {
        const { id } = session.user;
        const none: Stored = {};
        const { [id]: passkey } = await load().catch(() => none);
        const other =
          passkey === undefined
            ? undefined
            : await unsealed(session.user_key, id, passkey).then(
                (kept) => kept.session,
                () => undefined,
              );
        if (other?.session_id === session.session_id && other.access_expires_at > session.access_expires_at)
          return other;
        const renewed = await refresh(session);
        // Added meanwhile, or not: `keep` looks again. Without it the session goes on in this worker.
        await keep(renewed, (kept) =>
          kept.session.session_id === renewed.session_id ? { ...kept, session: renewed } : kept,
        ).catch(() => undefined);
        return renewed;
      }),
    async remove(userIds) {
      for (const id of userIds) Reflect.deleteProperty(stored, id);
      await change((all) => {
        const own = userIds.filter((id) => id in all);
        for (const id of own) Reflect.deleteProperty(all, id);
        return own.length > 0;
      });
    },
  };
}

async function keyOf(prf: ArrayBuffer): Promise<Uint8Array> {
  const output = new Uint8Array(prf);
  const key = await passkeyKey(output);
  output.fill(0);
  return key;
}

function sealed({ session: { user_key: userKey, ...session }, key: { salt, key } }: KeptSession): Promise<string> {
  const text = JSON.stringify({ session, salt: encodeBase64(salt), key: encodeBase64(key) });
  return box(decodeBase64(userKey), encodeText(text), contexts.passkeySession(session.user.id));
}

async function unsealed(userKey: string, userId: string, passkey: StoredPasskey): Promise<KeptSession> {
  const opened = await unboxBound(decodeBase64(userKey), passkey.session, contexts.passkeySession(userId));
  const { session, salt, key } = JSON.parse(decodeText(opened)) as {
    session: Omit<PersonSession, "user_key">;
    salt: string;
    key: string;
  }; // made by `sealed`
  return {
    session: { ...session, user_key: userKey },
    key: { salt: decodeBase64(salt), key: decodeBase64(key) },
  };
}
