import type { Push } from "../pushes/push.ts";

/** What waits to be sent on one connection: of what is about the same thing only the newest. */
export interface Waiting {
  readonly bytes: number;
  /** Once a vault is out of sight, what waited to be told of it is told no more. */
  add(push: Push): void;
  /** Takes the oldest out. */
  next(): Push | undefined;
}

/** An empty one. */
export function createWaiting(): Waiting {
  const pushes = new Map<string, Push>();
  let bytes = 0;
  const remove = (push: Push): void => {
    pushes.delete(push.key);
    bytes -= push.frame.length;
  };
  return {
    get bytes() {
      return bytes;
    },
    add: (push) => {
      if (push.endsVault)
        for (const each of pushes.values()) if (each.vaultId === push.vaultId && each.key !== push.key) remove(each);
      const known = pushes.get(push.key);
      if (known !== undefined) {
        if (known.updatedAt > push.updatedAt) return;
        remove(known);
      }
      pushes.set(push.key, push);
      bytes += push.frame.length;
    },
    next: () => {
      for (const push of pushes.values()) {
        remove(push);
        return push;
      }
      return undefined;
    },
  };
}
