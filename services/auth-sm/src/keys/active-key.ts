/** How long a new key is not used: meanwhile every replica reads it, and verifiers can fetch it. */
export const activationMilliseconds = 30_000;

/**
 * The key to use now: the newest that is active; the oldest while none is.
 * @param oldestFirst at least one
 */
export function activeKeyOf<Key extends { created_at: string }>(
  oldestFirst: readonly Key[],
  now: Date,
): Key | undefined {
  const active = oldestFirst.filter(
    ({ created_at }) => new Date(created_at).getTime() + activationMilliseconds <= now.getTime(),
  );
  return active.at(-1) ?? oldestFirst[0];
}
