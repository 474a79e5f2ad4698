/** What was pushed lately, so that the same is not pushed again when it is heard of on another way. */
export interface Recent {
  /** Whether this, or what came later about the same thing, was pushed. */
  has(thing: string, updatedAt: string): boolean;
  note(thing: string, updatedAt: string): void;
  /** From now on what was not met since the turn before this one is forgotten. */
  turn(): void;
}

/** More than this are forgotten before their time: to hear of something twice harms nobody. */
const most = 100_000;

/** An empty memory. Timestamps are compared as text: they have one form. */
export function createRecent(): Recent {
  let young = new Map<string, string>();
  let old = new Map<string, string>();
  const turn = (): void => {
    old = young;
    young = new Map();
  };
  const newest = (thing: string): string => young.get(thing) ?? old.get(thing) ?? "";
  return {
    has: (thing, updatedAt) => {
      const known = newest(thing);
      if (known < updatedAt) return false;
      // What is heard of again may be heard of once more.
      young.set(thing, known);
      return true;
    },
    note: (thing, updatedAt) => {
      if (young.size >= most) turn();
      const known = young.get(thing);
      if (known === undefined || known < updatedAt) young.set(thing, updatedAt);
    },
    turn,
  };
}
