import { CofferError } from "../errors.ts";
import type { PersonSession } from "../person-session.ts";
import type { VaultStore } from "../vaults/vault-store.ts";

/** Throws CofferError `invalid_token` unless the session is this person's. */
export function requirePerson(session: PersonSession, userId: string): void {
  if (session.user.id !== userId)
    throw new CofferError("invalid_token", "the session was ended (somebody else logged in): log in again");
}

/**
 * The store for as long as the session is this person's: what is answered to somebody else says nothing of what this
 * person has. Its requests throw CofferError `invalid_token` when somebody else has logged in, and `unavailable` when there
 * was another login meanwhile: it is not known whose token a request went with.
 */
export function asPerson(vaults: VaultStore, userId: string, session: () => Promise<PersonSession>): VaultStore {
  const current = async (): Promise<string> => {
    const held = await session();
    requirePerson(held, userId);
    return held.session_id;
  };
  const requireSame = async (before: string): Promise<void> => {
    if ((await current()) !== before)
      throw new CofferError("unavailable", "another login has taken the place of the session");
  };
  const asked = async <T>(request: () => Promise<T>): Promise<T> => {
    const before = await current();
    try {
      return await request();
    } finally {
      await requireSame(before);
    }
  };
  return {
    ...vaults,
    send: (request) => asked(() => vaults.send(request)),
    list: () => asked(() => vaults.list()),
    fresh: (id) => asked(() => vaults.fresh(id)),
    one: async (id) => vaults.known(id) ?? asked(() => vaults.fresh(id)),
  };
}
