import xzDecompress from "xz-decompress";
import type { UnpackBudget } from "./limits.ts";

/** The content of an xz file. Throws UnpackLimitError, or an Error when it is damaged. */
export async function unxz(bytes: Buffer, budget: UnpackBudget): Promise<Buffer> {
  const packed = new ReadableStream<Uint8Array>({
    start(controller) {
      controller.enqueue(new Uint8Array(bytes));
      controller.close();
    },
  });
  const parts: Uint8Array[] = [];
  let size = 0;
  const reader = new xzDecompress.XzReadableStream(packed).getReader();
  for (let part = await reader.read(); !part.done; part = await reader.read()) {
    size += part.value.length;
    if (size > budget.left) {
      await reader.cancel();
      throw budget.tooMuch();
    }
    parts.push(Uint8Array.from(part.value));
  }
  return Buffer.concat(parts);
}
