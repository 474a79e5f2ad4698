import { CofferError } from "../errors.ts";
import type { PersonSession } from "../people/person-session.ts";
import type { VaultStore } from "../vaults/vault-store.ts";

export function requirePerson(session: PersonSession, userId: string): void {
  if (session.user.id !== userId)
    throw new CofferError("invalid_token", "the session was ended (another person logged in): log in again");
}

/**
 * Wraps the store while the session belongs to this person: a response to another person says
 * nothing about this person's data. Requests throw CofferError `invalid_token` when another person
 * has logged in, and `unavailable` after another login of this person, because it is unknown whose
 * token was used.
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
  const guarded = async <T>(request: () => Promise<T>): Promise<T> => {
    const before = await current();
    try {
      return await request();
    } finally {
      await requireSame(before);
    }
  };
  return {
    ...vaults,
    send: (request) => guarded(() => vaults.send(request)),
    list: () => guarded(() => vaults.list()),
    fresh: (id) => guarded(() => vaults.fresh(id)),
    one: async (id) => (await vaults.cached(id)) ?? guarded(() => vaults.fresh(id)),
  };
}
