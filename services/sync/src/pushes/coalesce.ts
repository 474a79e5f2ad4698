/**
 * Coalesces requests by id. Calls during a running request share the one that follows it, so that
 * each result is newer than its call.
 */
export function coalesce<Result>(request: (id: string) => Promise<Result>): (id: string) => Promise<Result> {
  const running = new Map<string, Promise<Result>>();
  const following = new Map<string, Promise<Result>>();

  const start = (id: string): Promise<Result> => {
    const started = request(id).finally(() => running.delete(id));
    running.set(id, started);
    return started;
  };

  return (id) => {
    const current = running.get(id);
    if (current === undefined) return start(id);
    const known = following.get(id);
    if (known !== undefined) return known;
    const next = (): Promise<Result> => {
      following.delete(id);
      return start(id);
    };
    const follows = current.then(next, next);
    following.set(id, follows);
    return follows;
  };
}
