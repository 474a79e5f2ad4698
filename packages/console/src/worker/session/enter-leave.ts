import type { PersonSession } from "@coffer/sdk";
import type { State } from "../../protocol/session.ts";
import { Refusal } from "../failure.ts";
import type { LockKey } from "./lock.ts";
import { pinStorage } from "./pins.ts";
import { newTurn, tell } from "./session.ts";
import type { ConsoleSession, Turn } from "./session.ts";
import { settlingKeeper } from "./settling-keeper.ts";
import { clearReplica, openWorkspace } from "../workspace.ts";

export interface Leaving {
  because?: State["endedBecause"];
  keepReplica?: boolean;
  /** The person comes back, or another one is next. Otherwise the passkey ends with the session. */
  keepPasskey?: boolean;
  userId?: string | undefined;
}

/**
 * Opens a person's session on this device, in place of the one before. Throws Refusal `locked` when it
 * was locked or ended meanwhile.
 */
export async function enter(session: ConsoleSession, person: PersonSession, key: LockKey): Promise<void> {
  const { passkeys, settings } = session;
  if (session.open !== undefined) await leave(session, { keepReplica: true, keepPasskey: true });
  const turn = nextTurn(session);
  const keeper = settlingKeeper(person, passkeys.renew);
  const trust = pinStorage(person);
  await session.closing;
  const workspace = await openWorkspace({
    keeper,
    session: person,
    url: session.url,
    trust,
    changed: () => tell(session),
    organization: () => settings.current.organization,
    post(message) {
      if (session.turn === turn) session.post(message);
    },
    ended() {
      if (session.turn === turn) void leave(session, { because: "revoked", userId: person.user.id });
    },
  });
  if (session.turn !== turn) {
    await finish(session, workspace.close(turn));
    throw new Refusal("locked");
  }
  session.open = { keeper, key, workspace, attempts: 0 };
  session.locked = undefined;
  session.registered = undefined;
  session.endedBecause = null;
  session.user = { id: person.user.id, email: person.user.email, name: person.user.name };
  session.idle.start();
  session.post({ kind: "records", all: true, changed: workspace.records(), removed: [] });
  tell(session);
}

/** Forgets everything of the session in this worker. */
export async function leave(session: ConsoleSession, leaving: Leaving = {}): Promise<void> {
  const { because = null, keepReplica = false, keepPasskey = false, userId: id = session.user?.id } = leaving;
  const workspace = session.open?.workspace;
  session.turn.keepReplica = keepReplica;
  session.registered = undefined;
  session.user = null;
  session.endedBecause = because;
  const forgotten = id === undefined || keepPasskey ? Promise.resolve() : session.passkeys.remove([id]);
  close(session);
  await finish(session, forgotten);
  if (workspace !== undefined) await finish(session, workspace.close({ keepReplica }));
  else if (id !== undefined && !keepReplica) await finish(session, clearReplica(id));
}

/** Closes the open session for the pages, and leaves it locked if it is given sealed. */
export function close(session: ConsoleSession, sealed?: ConsoleSession["locked"]): void {
  nextTurn(session);
  session.open = undefined;
  session.locked = sealed;
  session.idle.stop();
  session.post({ kind: "records", all: true, changed: [], removed: [] });
  tell(session);
}

/** Waits for work on this device's storage, which the next session waits for too. */
export async function finish(session: ConsoleSession, work: Promise<void>): Promise<void> {
  // What a browser cannot store or clear any more is sealed, and of no use without the user key.
  session.closing = Promise.all([session.closing, work.catch(() => undefined)]);
  await session.closing;
}

function nextTurn(session: ConsoleSession): Turn {
  session.turn = newTurn();
  return session.turn;
}
