const most = 10_000;
const longestKey = 64;

/**
 * Memoizes `find` for 10,000 to 20,000 recent short texts, only if the result is defined, so that
 * junk input does not fill the memory.
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
    // A copy: a substring would hold the whole header in memory.
    recent.set(Buffer.from(text).toString(), value);
    return value;
  };
}
