import { randomFillSync } from "node:crypto";
import { v7 } from "uuid";

// One system call for 16 random bytes costs more than the rest of an id, hence the pool.
const idBytes = 16;
const pool = new Uint8Array(256 * idBytes);
let next = pool.length;

/** A new UUIDv7 (RFC 9562): ids of later milliseconds sort later. */
export function newId(): string {
  if (next === pool.length) {
    randomFillSync(pool);
    next = 0;
  }
  const random = pool.subarray(next, (next += idBytes));
  return v7({ random });
}
