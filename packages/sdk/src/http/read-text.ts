const smallBytes = 4 * 1024;
const largestBlockBytes = 1024 * 1024;

/**
 * The body as text; undefined if it has more than `maxBytes`, and the rest is not read. Without a
 * limit a server could fill the memory of every client. Small chunks are copied, since each costs
 * hundreds of bytes besides its content.
 */
export async function readText({ body }: Response, maxBytes: number): Promise<string | undefined> {
  if (body === null) return "";
  const reader: ReadableStreamDefaultReader<Uint8Array<ArrayBuffer>> = body.getReader();
  const parts: Uint8Array<ArrayBuffer>[] = [];
  let bytes = 0;
  let block = new Uint8Array(0);
  let used = 0;
  const closeBlock = (): void => {
    if (used > 0) parts.push(block.subarray(0, used));
    block = block.subarray(used);
    used = 0;
  };
  for (;;) {
    const { done, value } = await reader.read();
    if (done) break;
    bytes += value.length;
    if (bytes > maxBytes) {
      await reader.cancel();
      return undefined;
    }
    if (value.length >= smallBytes) {
      closeBlock();
      parts.push(value);
      continue;
    }
    if (value.length > block.length - used) {
      closeBlock();
      block = new Uint8Array(Math.min(Math.max(bytes, smallBytes), largestBlockBytes));
    }
    block.set(value, used);
    used += value.length;
  }
  closeBlock();
  return new Blob(parts).text();
}
