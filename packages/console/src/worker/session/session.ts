import { encodeBase64, encodeBase64Url } from "@coffer/crypto";
import { CofferError } from "@coffer/sdk";
import type { PersonSession } from "@coffer/sdk";
import type { Calls, FromWorker } from "../../protocol/calls.ts";
import type { Settings, State } from "../../protocol/session.ts";
import { consoleDevice } from "./device.ts";
import { Refusal } from "../failure.ts";
import { idleLock } from "./idle-lock.ts";
import { lockKey, openSession, sealSession } from "./lock.ts";
import type { LockedSession, LockKey } from "./lock.ts";
import { passkeyStore } from "./passkeys.ts";
import type { SettingsStore } from "./settings.ts";
import { pinStorage } from "./pins.ts";
import { settlingKeeper } from "./settling-keeper.ts";
import type { SettlingKeeper } from "./settling-keeper.ts";
import { clearReplica, openWorkspace } from "../workspace.ts";
import type { Workspace } from "../workspace.ts";

export interface ConsoleSession {
  /** The passkeys of this browser are read. */
  readonly loaded: Promise<void>;
  /** The state for a page that connects. */
  present(): FromWorker[];
  /** The open session's clients and keys. Throws Refusal `locked` without a session. */
  unlocked(): Workspace;
  signIn(input: Parameters<Calls["signIn"]>[0]): Promise<"done" | "code">;
  giveCode(code: string): Promise<"done" | "code">;
  register(input: Parameters<Calls["register"]>[0]): Promise<{ recoveryKey: string }>;
  recover(input: Parameters<Calls["recover"]>[0]): Promise<{ recoveryKey: string }>;
  keptRecoveryKey(recoveryKey: string): Promise<null>;
  unlock(password: string): Promise<null>;
  unlockPasskey(input: Parameters<Calls["unlockPasskey"]>[0]): Promise<null>;
  /** Takes as many wrong passwords as `unlock`, then the session ends. Throws Refusal `wrong_password`. */
  checkPassword(password: string): Promise<unknown>;
  startPasskey(password: string): Promise<{ salt: string }>;
  addPasskey(input: Parameters<Calls["addPasskey"]>[0]): Promise<null>;
  removePasskeys(): Promise<null>;
  /** From now on the new password opens a locked session. A session that is locked already ends. */
  passwordChanged(password: string): Promise<void>;
  lock(): Promise<null>;
  signOut(): Promise<null>;
  touch(): void;
  changeSettings(part: Partial<Settings>): Promise<null>;
}

/** After so many wrong passwords the session ends: what is left is the login, which the service limits. */
const mostAttempts = 10;

/** OPAQUE is large and needed for a login only. */
const account = () => import("@coffer/sdk/account");

interface Open {
  keeper: SettlingKeeper;
  key: LockKey;
  workspace: Workspace;
  attempts: number;
  /** Of the passkey that the person has begun to add with the password. */
  salt?: string | undefined;
}

interface Leaving {
  because?: State["endedBecause"];
  keepReplica?: boolean;
  /** The person comes back, or another one is next. Otherwise the passkey ends with the session. */
  keepPasskey?: boolean;
  userId?: string | undefined;
}

interface Login {
  /** Resolves `code` each time a code is needed, and `done` at the end. */
  next: PromiseWithResolvers<"done" | "code">;
  give: (code: string) => void;
}

/** The one session of all pages. `post` sends to each of them. */
export function createSession(
  url: string,
  post: (message: FromWorker) => void,
  settings: SettingsStore,
): ConsoleSession {
  const device = consoleDevice();
  const otherWorkers = new BroadcastChannel("coffer sign out");
  const changedPasskeys = new BroadcastChannel("coffer passkeys");
  const passkeys = passkeyStore(() => {
    changedPasskeys.postMessage(null);
    tell();
  });
  let open: Open | undefined;
  let locked: (LockedSession & { attempts: number }) | undefined;
  let pending: Login | undefined;
  /** A session that begins when the page gives this recovery key back. */
  let registered: { session: PersonSession; key: LockKey; recoveryKey: string } | undefined;
  const idle = idleLock(
    () => void lock(),
    () => settings.current.lockMinutes * 60_000,
  );
  /** The end of the workspaces before, which may still write into this device's storage. */
  let closing: Promise<unknown> = Promise.resolve();
  /** Counts the changes of the session. A workspace of an earlier change is not used. */
  let changes = 0;
  let user: State["user"] = null;
  let endedBecause: State["endedBecause"] = null;

  const state = (): State => ({
    phase: open === undefined ? (locked === undefined ? "signed-out" : "locked") : "unlocked",
    user,
    endedBecause,
    connection: open?.workspace.connection() ?? { kind: "connecting" },
    vaults: open?.workspace.vaults() ?? [],
    settings: settings.current,
    passkeys: passkeys.shown(user?.id),
  });
  const tell = (): void => post({ kind: "state", state: state() });

  const enter = async (session: PersonSession, key: LockKey): Promise<void> => {
    if (open !== undefined) await leave({ keepReplica: true, keepPasskey: true });
    changes += 1;
    const change = changes;
    // A function, because the compiler does not see that the value changes.
    const isCurrent = (): boolean => change === changes;
    const keeper = settlingKeeper(session, passkeys.renew);
    const trust = pinStorage(session);
    await closing;
    const workspace = await openWorkspace({
      ...{ keeper, session, url, trust, changed: tell },
      organization: () => settings.current.organization,
      post(message) {
        if (isCurrent()) post(message);
      },
      ended() {
        if (isCurrent()) void leave({ because: "revoked", userId: session.user.id });
      },
    });
    if (!isCurrent()) {
      await finish(workspace.close({ keepReplica: true }));
      throw new Refusal("locked");
    }
    open = { keeper, key, workspace, attempts: 0 };
    locked = undefined;
    registered = undefined;
    endedBecause = null;
    user = { id: session.user.id, email: session.user.email, name: session.user.name };
    idle.start();
    post({ kind: "records", all: true, changed: workspace.records(), removed: [] });
    tell();
  };

  const finish = async (work: Promise<void>): Promise<void> => {
    // What a browser cannot store or clear any more is sealed, and of no use without the user key.
    closing = Promise.all([closing, work.catch(() => undefined)]);
    await closing;
  };

  /** Forgets everything of the session in this worker. */
  const leave = async (leaving: Leaving): Promise<void> => {
    const { because = null, keepReplica = false, keepPasskey = false, userId: id = user?.id } = leaving;
    const workspace = open?.workspace;
    changes += 1;
    open = undefined;
    locked = undefined;
    registered = undefined;
    user = null;
    endedBecause = because;
    idle.stop();
    const forgotten = id === undefined || keepPasskey ? Promise.resolve() : passkeys.remove([id]);
    post({ kind: "records", all: true, changed: [], removed: [] });
    tell();
    await finish(forgotten);
    if (workspace !== undefined) await finish(workspace.close({ keepReplica }));
    else if (id !== undefined && !keepReplica) await finish(clearReplica(id));
  };

  // Each page of a browser without shared workers has its own session: signing out ends all of them.
  otherWorkers.onmessage = ({ data }: MessageEvent<string>) => {
    if (data === user?.id) void leave({});
  };
  changedPasskeys.onmessage = () => void passkeys.read().then(tell);

  /** Checks a password, of which the session takes so many wrong ones. `check` returns null for one. */
  const attempt = async <T>(
    tried: { attempts: number },
    isCurrent: () => boolean,
    check: () => Promise<T | null>,
  ): Promise<T> => {
    // Counted before the check, so that attempts at the same time count too.
    tried.attempts += 1;
    if (tried.attempts > mostAttempts) throw new Refusal("wrong_password");
    const result = await check();
    if (!isCurrent()) throw new Refusal("locked");
    if (result === null) {
      if (tried.attempts >= mostAttempts) await leave({ because: "attempts", keepReplica: true });
      throw new Refusal("wrong_password");
    }
    tried.attempts = 0;
    return result;
  };

  /** The open session, if this is its password. */
  async function checkPassword(password: string): Promise<Open> {
    const opened = open;
    if (opened === undefined) throw new Refusal("locked");
    const expected = opened.key;
    return attempt(
      opened,
      () => open === opened,
      async () => {
        const { key } = await lockKey(password, expected.salt);
        return encodeBase64(key) === encodeBase64(expected.key) ? opened : null;
      },
    );
  }

  async function lock(): Promise<null> {
    const opened = open;
    if (opened === undefined) return null;
    const { keeper, key, workspace } = opened;
    const session = await keeper.current();
    const sealed = { ...(await sealSession(key, session)), attempts: 0 };
    if (open !== opened) return null;
    changes += 1;
    open = undefined;
    locked = sealed;
    idle.stop();
    post({ kind: "records", all: true, changed: [], removed: [] });
    tell();
    await finish(workspace.close({ keepReplica: true }));
    const settled = await keeper.settled();
    // The tokens from before a renewal would soon end the session.
    if (settled.access_token !== session.access_token) Object.assign(sealed, await sealSession(key, settled));
    return null;
  }

  const startLogin = (email: string, password: string): Login => {
    const login_: Login = { next: Promise.withResolvers(), give: () => undefined };
    const run = async (): Promise<void> => {
      const { login } = await account();
      const session = await login({
        url,
        email,
        password,
        device: await device.device(),
        deviceCredential: await device.credential(email),
        otp: () => {
          login_.next.resolve("code");
          login_.next = Promise.withResolvers();
          return new Promise((resolve) => (login_.give = resolve));
        },
      });
      await device.keepCredential(email, session.device_credential);
      const key = await lockKey(password);
      if (pending !== login_) return;
      // From now on the passkey opens this session. What a browser cannot store is the session before.
      await passkeys.keep(session, () => ({ session, key })).catch(() => undefined);
      await enter(session, key);
      login_.next.resolve("done");
    };
    run().catch((error: unknown) => login_.next.reject(error));
    return login_;
  };

  return {
    loaded: passkeys.loaded,
    present: () => [
      { kind: "records", all: true, changed: open?.workspace.records() ?? [], removed: [] },
      { kind: "state", state: state() },
    ],
    unlocked() {
      if (open === undefined) throw new Refusal("locked");
      return open.workspace;
    },
    signIn({ email, password }) {
      pending = startLogin(email, password);
      return pending.next.promise;
    },
    giveCode(code) {
      if (pending === undefined) throw new Refusal("locked");
      const { next, give } = pending;
      give(code);
      return next.promise;
    },
    async register({ email, password, name, organization, invitation }) {
      const { register } = await account();
      const { session, recoveryKey, trust } = await register({
        url,
        email,
        password,
        device: await device.device(),
        ...(name === "" ? {} : { name }),
        ...(organization === "" ? {} : { organization }),
        ...(invitation === "" ? {} : { inviteToken: invitation }),
      });
      await pinStorage(session).change(() => trust);
      await device.keepCredential(email, session.device_credential);
      registered = { session, key: await lockKey(password), recoveryKey };
      return { recoveryKey };
    },
    async recover({ email, recoveryKey: used, newPassword, code }) {
      const { recover } = await account();
      const { session, recoveryKey } = await recover({
        ...{ url, email, newPassword, recoveryKey: used, device: await device.device() },
        otp: (again) =>
          code === "" || again
            ? Promise.reject(new Refusal(again ? "otp_required" : "code_needed"))
            : Promise.resolve(code),
      });
      await device.keepCredential(email, session.device_credential);
      // Its session has ended with all others.
      await passkeys.remove([session.user.id]).catch(() => undefined);
      registered = { session, key: await lockKey(newPassword), recoveryKey };
      return { recoveryKey };
    },
    async keptRecoveryKey(recoveryKey) {
      if (registered === undefined || registered.recoveryKey !== recoveryKey) throw new Refusal("locked");
      const { session, key } = registered;
      registered = undefined;
      await enter(session, key);
      return null;
    },
    async unlock(password) {
      const tried = locked;
      if (tried === undefined) throw new Refusal("locked");
      const { session, key } = await attempt(
        tried,
        () => locked === tried,
        () => openSession(tried, password),
      );
      await enter(session, key);
      return null;
    },
    async unlockPasskey(answer) {
      const change = changes;
      const kept = await passkeys.open(answer);
      if (kept === null) throw new Refusal("passkey_refused");
      // A locked session waits for its own person.
      if (open !== undefined || change !== changes || (user ?? kept.session.user).id !== kept.session.user.id)
        throw new Refusal("locked");
      await enter(kept.session, kept.key);
      return null;
    },
    checkPassword,
    async startPasskey(password) {
      const opened = await checkPassword(password);
      opened.salt = encodeBase64Url(crypto.getRandomValues(new Uint8Array(32)));
      return { salt: opened.salt };
    },
    async addPasskey({ id, prf, name }) {
      const opened = open;
      if (opened?.salt === undefined) throw new Refusal("locked");
      const { salt, keeper } = opened;
      opened.salt = undefined;
      await passkeys.add({ id, prf, salt, name: name.slice(0, 64) }, async () => {
        const session = await keeper.current();
        return open === opened ? { session, key: opened.key } : null;
      });
      return null;
    },
    async removePasskeys() {
      if (locked !== undefined) throw new Refusal("locked");
      const ids = user === null ? passkeys.persons() : [user.id];
      await passkeys.remove(ids);
      if (user === null) await Promise.all(ids.map(clearReplica));
      return null;
    },
    async passwordChanged(password) {
      const key = await lockKey(password);
      if (open !== undefined) {
        open.key = key;
        const session = await open.keeper.current();
        await passkeys.keep(session, (kept) => ({ ...kept, key })).catch(() => undefined);
      }
      // Locked meanwhile, with the password from before.
      else if (locked !== undefined) await leave({ keepReplica: true });
    },
    lock,
    async signOut() {
      const client = open?.workspace.client;
      const id = user?.id;
      // Before the service is asked, which takes its time where it cannot be reached.
      if (id !== undefined) await passkeys.remove([id]).catch(() => undefined);
      await client?.logout().catch((error: unknown) => {
        // Without a connection the session ends here, and at the service when it expires.
        if (!(error instanceof CofferError)) throw error;
      });
      await leave({});
      if (id !== undefined) otherWorkers.postMessage(id);
      return null;
    },
    touch: () => idle.touch(),
    async changeSettings(part) {
      await settings.change(part);
      tell();
      return null;
    },
  };
}
