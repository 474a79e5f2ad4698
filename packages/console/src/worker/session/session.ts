import type { PersonSession } from "@coffer/sdk";
import type { FromWorker } from "../../protocol/calls.ts";
import type { State } from "../../protocol/session.ts";
import type { ConsoleDevice } from "./device.ts";
import { Refusal } from "../failure.ts";
import type { IdleLock } from "./idle-lock.ts";
import type { LockedSession, LockKey } from "./lock.ts";
import type { Passkeys } from "./passkeys.ts";
import type { SettingsStore } from "./settings.ts";
import type { SettlingKeeper } from "./settling-keeper.ts";
import type { Workspace } from "../workspace.ts";

/** The one session of all pages: signed out, being opened, open or locked. */
export interface ConsoleSession {
  readonly url: string;
  /** Sends to each page. */
  readonly post: (message: FromWorker) => void;
  readonly settings: SettingsStore;
  readonly device: ConsoleDevice;
  readonly passkeys: Passkeys;
  readonly idle: IdleLock;
  /** Tells the workers of other pages whose session has ended. */
  readonly otherWorkers: BroadcastChannel;
  open?: OpenSession | undefined;
  locked?: (LockedSession & { attempts: number }) | undefined;
  login?: Login | undefined;
  /** A session that begins when the page gives this recovery key back. */
  registered?: { session: PersonSession; key: LockKey; recoveryKey: string } | undefined;
  /** Replaced with each change of the session. What began in an earlier one is not used. */
  turn: Turn;
  /** The end of the workspaces before, which may still write into this device's storage. */
  closing: Promise<unknown>;
  user: State["user"];
  endedBecause: State["endedBecause"];
}

export interface OpenSession {
  keeper: SettlingKeeper;
  key: LockKey;
  workspace: Workspace;
  /** Wrong passwords since the last right one. */
  attempts: number;
  /** Of the passkey that the person has begun to add with the password. */
  salt?: string | undefined;
}

export interface Turn {
  /** What becomes of the replica that is opened in this turn, if the turn ends meanwhile. */
  keepReplica: boolean;
}

export interface Login {
  /** Resolves `code` each time a code is needed, and `done` at the end. */
  next: PromiseWithResolvers<"done" | "code">;
  give: (code: string) => void;
}

export const newTurn = (): Turn => ({ keepReplica: true });

/** The open session's clients and keys. Throws Refusal `locked` without a session. */
export function unlocked({ open }: ConsoleSession): Workspace {
  if (open === undefined) throw new Refusal("locked");
  return open.workspace;
}

/** The state for a page that connects. */
export const present = (session: ConsoleSession): FromWorker[] => [
  { kind: "records", all: true, changed: session.open?.workspace.records() ?? [], removed: [] },
  { kind: "state", state: stateOf(session) },
];

/** Shows the pages the session's state. */
export const tell = (session: ConsoleSession): void => session.post({ kind: "state", state: stateOf(session) });

const stateOf = ({ open, locked, user, endedBecause, settings, passkeys }: ConsoleSession): State => ({
  phase: open === undefined ? (locked === undefined ? "signed-out" : "locked") : "unlocked",
  user,
  endedBecause,
  connection: open?.workspace.connection() ?? { kind: "connecting" },
  vaults: open?.workspace.vaults() ?? [],
  settings: settings.current,
  passkeys: passkeys.shown(user?.id),
});
