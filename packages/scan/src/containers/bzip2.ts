import bzip2 from "@foxglove/wasm-bz2";
import type { UnpackBudget } from "./limits.ts";

const firstRoom = 64;

/**
 * The content of a bzip2 file, which may be several streams one behind the other. Throws
 * UnpackLimitError, or an Error when it is damaged.
 */
export async function bunzip2(bytes: Buffer, budget: UnpackBudget): Promise<Buffer> {
  const decoder = await bzip2.init();
  const starts = [...bytes.toString("latin1").matchAll(/BZh[1-9]1AY&SY/g)].map(({ index }) => index);
  const parts: Buffer[] = [];
  let left = budget.left;
  for (let index = 0; index < starts.length; index += 1) {
    const part = decompress(decoder, bytes.subarray(starts[index], starts[index + 1]), left, budget);
    left -= part.length;
    parts.push(part);
  }
  return Buffer.concat(parts);
}

function decompress(decoder: bzip2, bytes: Buffer, left: number, budget: UnpackBudget): Buffer {
  // The size is not in the file: the room grows until the content fits.
  for (let room = Math.max(1024 * 1024, bytes.length * firstRoom); ; room *= 8) {
    const most = Math.min(room, left + 1);
    try {
      const content = decoder.decompress(bytes, most, { small: false });
      if (content.length > left) throw budget.tooMuch();
      return Buffer.from(content);
    } catch (error) {
      if (!isTooSmall(error)) throw error;
      if (most > left) throw budget.tooMuch();
    }
  }
}

/** `BZ_OUTBUFF_FULL` of the library. */
function isTooSmall(error: unknown): boolean {
  return error instanceof Error && /failed: -8 |OUTBUFF/.test(error.message);
}
