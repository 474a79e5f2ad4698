import { bucketAddress } from "@coffer/ratelimit";

/** Whose bytes are too many. */
export type Excess = "address" | "process";

/** The bytes of one request in a budget. */
export interface Share {
  /** Counts bytes until `give` or `close`, also those over a limit. Returns which limit they exceed. */
  take(bytes: number): Excess | undefined;
  /** Counts bytes no more. */
  give(bytes: number): void;
  /** Counts none of them any more. */
  close(): void;
}

export interface MemoryBudget {
  /** A share without bytes. */
  open(ip: string): Share;
  /** What a further share of an address would exceed. Undefined if it holds little. */
  excessWith(ip: string, bytes: number): Excess | undefined;
}

/** A share up to this size is small. */
export const smallBytes = 64 * 1024;

/**
 * Divides memory among source addresses. An address holds at most half of `limitBytes`, and no more
 * than what is left besides: no number of busy addresses leaves nothing for another one. Small
 * shares may use a quarter more.
 */
export function createMemoryBudget(limitBytes: number): MemoryBudget {
  let total = 0;
  const held = new Map<string, number>();

  function add(address: string, bytes: number): number {
    total += bytes;
    const sum = (held.get(address) ?? 0) + bytes;
    if (sum === 0) held.delete(address);
    else held.set(address, sum);
    return sum;
  }

  function excess(ofAddress: number, ofAll: number, limit: number): Excess | undefined {
    if (ofAddress > limit / 2) return "address";
    return ofAddress > limit - ofAll ? "process" : undefined;
  }

  return {
    open: (ip) => {
      const address = bucketAddress(ip);
      let own = 0;
      return {
        take: (bytes) => {
          own += bytes;
          const ofAddress = add(address, bytes);
          return excess(ofAddress, total, own <= smallBytes ? limitBytes * 1.25 : limitBytes);
        },
        give: (bytes) => {
          own -= bytes;
          add(address, -bytes);
        },
        close: () => {
          if (own !== 0) add(address, -own);
          own = 0;
        },
      };
    },
    excessWith: (ip, bytes) => {
      const ofAddress = held.get(bucketAddress(ip)) ?? 0;
      return ofAddress <= smallBytes ? undefined : excess(ofAddress + bytes, total + bytes, limitBytes);
    },
  };
}
