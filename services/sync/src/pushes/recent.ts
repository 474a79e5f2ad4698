/** Recent pushes, so that catch-up does not repeat them. */
export interface Recent {
  /** Whether this change, or a later one of the same key, was pushed. */
  has(key: string, updatedAt: string): boolean;
  note(key: string, updatedAt: string): void;
  /** Drops entries that were not used since the previous call. */
  rotate(): void;
}

/** Beyond this, entries are dropped early; a repeated push is harmless. */
const most = 100_000;

/** Timestamps are compared as text: all have one form. */
export function createRecent(): Recent {
  let young = new Map<string, string>();
  let old = new Map<string, string>();
  const rotate = (): void => {
    old = young;
    young = new Map();
  };
  const newest = (key: string): string => young.get(key) ?? old.get(key) ?? "";
  return {
    has: (key, updatedAt) => {
      const known = newest(key);
      if (known < updatedAt) return false;
      // It may be repeated once more.
      young.set(key, known);
      return true;
    },
    note: (key, updatedAt) => {
      if (young.size >= most) rotate();
      const known = young.get(key);
      if (known === undefined || known < updatedAt) young.set(key, updatedAt);
    },
    rotate,
  };
}
