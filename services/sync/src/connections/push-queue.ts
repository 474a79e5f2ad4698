import type { Push } from "../pushes/push.ts";

/** The queued pushes of one connection, only the newest for each key. */
export interface PushQueue {
  readonly bytes: number;
  /** A push that ends a vault removes the queued pushes of that vault. */
  add(push: Push): void;
  /** Removes and returns the oldest. */
  next(): Push | undefined;
}

export function createPushQueue(): PushQueue {
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
