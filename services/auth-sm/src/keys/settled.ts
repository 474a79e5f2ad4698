/**
 * How long a new key only waits: by then every replica has read it, and whoever verifies tokens has had time to fetch
 * it. It is used from then on.
 */
export const settlingMilliseconds = 30_000;

/**
 * The key that is used now: the newest that has settled; while none has, the oldest.
 * @param oldestFirst at least one
 */
export function settledOf<Key extends { created_at: string }>(oldestFirst: readonly Key[], now: Date): Key | undefined {
  const settled = oldestFirst.filter(
    ({ created_at }) => new Date(created_at).getTime() + settlingMilliseconds <= now.getTime(),
  );
  return settled.at(-1) ?? oldestFirst[0];
}
