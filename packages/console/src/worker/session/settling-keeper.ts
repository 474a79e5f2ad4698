import { memoryKeeper } from "@coffer/sdk";
import type { PersonSession, SessionKeeper } from "@coffer/sdk";

export interface SettlingKeeper extends SessionKeeper {
  /** The session as soon as no renewal of its tokens is under way. */
  settled(): Promise<PersonSession>;
}

/** Renews the tokens of a session with `refresh`. */
export type Renew = (
  session: PersonSession,
  refresh: (session: PersonSession) => Promise<PersonSession>,
) => Promise<PersonSession>;

/** Keeps a session in memory. `renew` may also store what it renews. */
export function settlingKeeper(
  session: PersonSession,
  renew: Renew = (current, refresh) => refresh(current),
): SettlingKeeper {
  const keeper = memoryKeeper(session);
  let renewal: Promise<unknown> = Promise.resolve();
  return {
    current: () => keeper.current(),
    renew(staleToken, refresh) {
      const renewing = keeper.renew(staleToken, (current) => renew(current, refresh));
      renewal = renewing.catch(() => undefined);
      return renewing;
    },
    async settled() {
      await renewal;
      return keeper.current();
    },
  };
}
