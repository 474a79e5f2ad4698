import { memoryKeeper } from "@coffer/sdk";
import type { PersonSession, SessionKeeper } from "@coffer/sdk";

export interface SettlingKeeper extends SessionKeeper {
  /** The session as soon as no renewal of its tokens is under way. */
  settled(): Promise<PersonSession>;
}

/** Keeps a session in memory. Who stores the session elsewhere stores it again when it has settled. */
export function settlingKeeper(session: PersonSession): SettlingKeeper {
  const keeper = memoryKeeper(session);
  let renewal: Promise<unknown> = Promise.resolve();
  return {
    current: () => keeper.current(),
    renew(staleToken, refresh) {
      const renewing = keeper.renew(staleToken, refresh);
      renewal = renewing.catch(() => undefined);
      return renewing;
    },
    async settled() {
      await renewal;
      return keeper.current();
    },
  };
}
