/** Uses of a text before it gets a name. */
const worthNaming = 3;
/** A name costs memory on every server connection. */
const mostNames = 512;
const mostCounted = 2_000;

/**
 * Names repeated statement texts, so that Postgres parses and plans them once per connection: half
 * of its time for a small statement. Texts that vary, such as lists, stay unnamed, which bounds
 * memory.
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
