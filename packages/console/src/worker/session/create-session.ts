import type { FromWorker } from "../../protocol/calls.ts";
import { consoleDevice } from "./device.ts";
import { leave } from "./enter-leave.ts";
import { idleLock } from "./idle-lock.ts";
import { passkeyStore } from "./passkeys.ts";
import { lock } from "./password.ts";
import { newTurn, tell } from "./session.ts";
import type { ConsoleSession } from "./session.ts";
import type { SettingsStore } from "./settings.ts";

/** Makes the signed-out session. `post` sends to each page. */
export function createSession(
  url: string,
  post: (message: FromWorker) => void,
  settings: SettingsStore,
): ConsoleSession {
  const changedPasskeys = new BroadcastChannel("coffer passkeys");
  const session: ConsoleSession = {
    url,
    post,
    settings,
    device: consoleDevice(),
    passkeys: passkeyStore(() => {
      changedPasskeys.postMessage(null);
      tell(session);
    }),
    idle: idleLock(
      () => void lock(session),
      () => settings.current.lockMinutes * 60_000,
    ),
    otherWorkers: new BroadcastChannel("coffer sign out"),
    turn: newTurn(),
    closing: Promise.resolve(),
    user: null,
    endedBecause: null,
  };
  // Each page of a browser without shared workers has its own session: signing out ends all of them.
  session.otherWorkers.onmessage = ({ data }: MessageEvent<string>) => {
    if (data === session.user?.id) void leave(session);
  };
  changedPasskeys.onmessage = () => void session.passkeys.read().then(() => tell(session));
  return session;
}
