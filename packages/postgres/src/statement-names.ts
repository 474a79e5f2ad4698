/** A text is worth a name when it comes again and again. */
const worthNaming = 3;
/** Each name costs memory on every connection of the server. */
const mostNames = 512;
/** Texts that are counted at the same time. */
const mostCounted = 2_000;

/**
 * Gives a name to each text that repeats, so that Postgres parses and plans it once per connection instead of at each
 * run (half of Postgres's time for a small statement). Texts that are made anew each time, as by a list of any length,
 * stay unnamed: what a connection holds is bounded.
 */
export function createStatementNames(): (text: string) => string | undefined {
  const names = new Map<string, string>();
  const seen = new Map<string, number>();
  return (text) => {
    const name = names.get(text);
    if (name !== undefined || names.size >= mostNames) return name;
    const times = (seen.get(text) ?? 0) + 1;
    if (times < worthNaming) {
      if (seen.size >= mostCounted) seen.clear();
      seen.set(text, times);
      return undefined;
    }
    seen.delete(text);
    const given = `coffer_${names.size}`;
    names.set(text, given);
    return given;
  };
}
