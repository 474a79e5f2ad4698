const most = 10_000;
const longestKey = 64;

/**
 * Remembers what `find` returned for the short texts seen lately, 10,000 at least and 20,000 at most, and only for those
 * that it found something for: nobody fills the memory with nonsense.
 */
export function createMemo<Value>(find: (text: string) => Value): (text: string) => Value {
  let recent = new Map<string, Value>();
  let older = new Map<string, Value>();
  return (text) => {
    const known = recent.get(text);
    if (known !== undefined) return known;
    const value = older.get(text) ?? find(text);
    if (value === undefined || text.length > longestKey) return value;
    if (recent.size >= most) {
      older = recent;
      recent = new Map();
    }
    // A copy: a part of a header would keep the whole header in memory.
    recent.set(Buffer.from(text).toString(), value);
    return value;
  };
}
