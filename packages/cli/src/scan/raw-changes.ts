/** A file that a change made or altered, as git's raw output names it. */
export interface RawChange {
  path: string;
  /** The blob before the change, for each parent of a merge; zeros when there was none. */
  before: string[];
  after: string;
}

/** The changes in git's raw output that leave a file behind; links and submodules hold nothing to scan. */
export function changesOf(texts: readonly string[]): RawChange[] {
  const changes: RawChange[] = [];
  for (let index = 0; index + 1 < texts.length; index += 1) {
    const change = rawChange(texts[index] ?? "", texts[index + 1] ?? "");
    if (change === undefined) continue;
    if (change !== null) changes.push(change);
    index += 1;
  }
  return changes;
}

/** Undefined when this is no header of a change, null when the change leaves no file behind. */
export function rawChange(header: string, path: string): RawChange | null | undefined {
  const colons = /^:+/.exec(header)?.[0].length ?? 0;
  if (colons === 0) return undefined;
  const words = header.slice(colons).split(" ");
  const mode = words[colons] ?? "";
  const oids = words.slice(colons + 1, 2 * colons + 2);
  const after = oids.at(-1) ?? "";
  return mode.startsWith("100") && !/^0+$/.test(after) ? { path, before: oids.slice(0, -1), after } : null;
}
