import { CofferError } from "@coffer/sdk";
import type { PersonSession } from "@coffer/sdk";
import type { Calls, FromWorker, Settings, State } from "../protocol.ts";
import { consoleDevice } from "./device.ts";
import { Refusal } from "./failure.ts";
import { idleLock } from "./idle-lock.ts";
import { lockKey, openSession, sealSession } from "./lock.ts";
import type { LockedSession, LockKey } from "./lock.ts";
import type { SettingsStore } from "./settings.ts";
import { pinStorage } from "./pins.ts";
import { settlingKeeper } from "./settling-keeper.ts";
import type { SettlingKeeper } from "./settling-keeper.ts";
import { clearReplica, openWorkspace } from "./workspace.ts";
import type { Workspace } from "./workspace.ts";

export interface ConsoleSession {
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
  /** From now on the new password opens a locked session. A session that is locked already ends. */
  passwordChanged(password: string): Promise<void>;
  lock(): Promise<null>;
  signOut(): Promise<null>;
  touch(): void;
  changeSettings(part: Partial<Settings>): Promise<null>;
}

/** After so many wrong passwords a locked session ends: what is left is the login, which the service limits. */
const mostAttempts = 10;

/** OPAQUE is large and needed for a login only. */
const account = () => import("@coffer/sdk/account");

interface Open {
  keeper: SettlingKeeper;
  key: LockKey;
  workspace: Workspace;
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
  });
  const tell = (): void => post({ kind: "state", state: state() });

  const enter = async (session: PersonSession, key: LockKey): Promise<void> => {
    if (open !== undefined) await leave(null, true);
    changes += 1;
    const change = changes;
    // A function, because the compiler does not see that the value changes.
    const isCurrent = (): boolean => change === changes;
    const keeper = settlingKeeper(session);
    const trust = pinStorage(session);
    await closing;
    const workspace = await openWorkspace({
      ...{ keeper, session, url, trust, changed: tell },
      post(message) {
        if (isCurrent()) post(message);
      },
      ended() {
        if (isCurrent()) lost();
      },
    });
    if (!isCurrent()) {
      await finish(workspace.close({ keepReplica: true }));
      throw new Refusal("locked");
    }
    open = { keeper, key, workspace };
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
  const leave = async (because: State["endedBecause"], keepReplica: boolean): Promise<void> => {
    const workspace = open?.workspace;
    const id = user?.id;
    changes += 1;
    open = undefined;
    locked = undefined;
    registered = undefined;
    user = null;
    endedBecause = because;
    idle.stop();
    post({ kind: "records", all: true, changed: [], removed: [] });
    tell();
    if (workspace !== undefined) await finish(workspace.close({ keepReplica }));
    else if (id !== undefined && !keepReplica) await finish(clearReplica(id));
  };

  const lost = (): void => void leave("revoked", false);
  // Each page of a browser without shared workers has its own session: signing out ends all of them.
  otherWorkers.onmessage = ({ data }: MessageEvent<string>) => {
    if (data === user?.id) void leave(null, false);
  };

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
      if (pending !== login_) return;
      await enter(session, await lockKey(password));
      login_.next.resolve("done");
    };
    run().catch((error: unknown) => login_.next.reject(error));
    return login_;
  };

  return {
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
      // Counted before the check, so that attempts at the same time count too.
      tried.attempts += 1;
      if (tried.attempts > mostAttempts) throw new Refusal("wrong_password");
      const opened = await openSession(tried, password);
      if (locked !== tried) throw new Refusal("locked");
      if (opened === null) {
        if (tried.attempts >= mostAttempts) await leave("attempts", true);
        throw new Refusal("wrong_password");
      }
      tried.attempts = 0;
      await enter(opened.session, opened.key);
      return null;
    },
    async passwordChanged(password) {
      const key = await lockKey(password);
      if (open !== undefined) open.key = key;
      // Locked meanwhile, with the password from before.
      else if (locked !== undefined) await leave(null, true);
    },
    lock,
    async signOut() {
      const client = open?.workspace.client;
      const id = user?.id;
      await client?.logout().catch((error: unknown) => {
        // Without a connection the session ends here, and at the service when it expires.
        if (!(error instanceof CofferError)) throw error;
      });
      await leave(null, false);
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
