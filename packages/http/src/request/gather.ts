/** Collects the chunks of a body. */
export interface Gather {
  readonly length: number;
  add(chunk: Buffer): void;
  /** All chunks as one. Does not copy a single one. */
  bytes(): Buffer;
}

const empty = Buffer.alloc(0);
/** Smaller chunks are copied: each Buffer costs about 430 bytes besides its content. */
const smallBytes = 4 * 1024;
const largestBlockBytes = 64 * 1024;

export function createGather(): Gather {
  let first: Buffer = empty;
  let parts: Buffer[] | undefined;
  let length = 0;
  /** For small chunks; its first `used` bytes are in no part yet. */
  let block: Buffer = empty;
  let used = 0;

  function closeBlock(): void {
    if (used === 0) return;
    parts?.push(block.subarray(0, used));
    block = block.subarray(used);
    used = 0;
  }

  return {
    get length() {
      return length;
    },
    add: (chunk) => {
      length += chunk.length;
      if (length === chunk.length) {
        first = chunk;
        return;
      }
      parts ??= [first];
      if (chunk.length >= smallBytes) {
        closeBlock();
        parts.push(chunk);
        return;
      }
      if (chunk.length > block.length - used) {
        closeBlock();
        block = Buffer.allocUnsafeSlow(Math.min(Math.max(length, smallBytes), largestBlockBytes));
      }
      block.set(chunk, used);
      used += chunk.length;
    },
    bytes: () => {
      closeBlock();
      return parts === undefined ? first : Buffer.concat(parts, length);
    },
  };
}
