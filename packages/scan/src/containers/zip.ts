import { configure, Uint8ArrayReader, ZipReader } from "@zip.js/zip.js";
import type { FileEntry } from "@zip.js/zip.js";
import type { UnpackBudget } from "./limits.ts";
import { UnpackLimitError } from "./limits.ts";
import type { Member, UnreadableMember } from "./unpack.ts";

configure({ useWebWorkers: false });

/** The files in a zip archive. Throws UnpackLimitError, or an Error when it is damaged. */
export async function* unzip(bytes: Buffer, budget: UnpackBudget): AsyncGenerator<Member | UnreadableMember> {
  const reader = new ZipReader(new Uint8ArrayReader(bytes));
  for await (const entry of reader.getEntriesGenerator()) {
    if (entry.directory) continue;
    budget.takeMember();
    if (entry.encrypted) yield { name: entry.filename, message: "is under a password" };
    else yield await readMember(entry, budget);
  }
}

async function readMember(entry: FileEntry, budget: UnpackBudget): Promise<Member | UnreadableMember> {
  const parts: Uint8Array[] = [];
  // The size in the archive may be a lie: what comes out counts.
  const sink = new WritableStream<Uint8Array>({
    write(part) {
      budget.takeBytes(part.length);
      parts.push(Uint8Array.from(part));
    },
  });
  try {
    await entry.getData(sink);
    return { name: entry.filename, bytes: Buffer.concat(parts) };
  } catch (error) {
    if (error instanceof UnpackLimitError || budget.left < 0) throw budget.tooMuch();
    return {
      name: entry.filename,
      message: `cannot be unpacked: ${error instanceof Error ? error.message : "damaged"}`,
    };
  }
}
