/**
 * Makes a function that answers by an id what was true at some moment after it was called. All who ask while a question
 * is under way share the one that follows it.
 */
export function createFreshly<Answer>(ask: (id: string) => Promise<Answer>): (id: string) => Promise<Answer> {
  const running = new Map<string, Promise<Answer>>();
  const following = new Map<string, Promise<Answer>>();

  const start = (id: string): Promise<Answer> => {
    const asked = ask(id).finally(() => running.delete(id));
    running.set(id, asked);
    return asked;
  };

  return (id) => {
    const current = running.get(id);
    if (current === undefined) return start(id);
    const known = following.get(id);
    if (known !== undefined) return known;
    const next = (): Promise<Answer> => {
      following.delete(id);
      return start(id);
    };
    const follows = current.then(next, next);
    following.set(id, follows);
    return follows;
  };
}
