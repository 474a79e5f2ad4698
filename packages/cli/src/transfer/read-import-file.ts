import { createReadStream } from "node:fs";
import { ImportError, readImport } from "@coffer/import";
import type { ImportedFile, ImportFormat } from "@coffer/import";
import { usage } from "../failure.ts";
import { stdinIsTerminal } from "../inputs.ts";

/** The most that is read, in bytes: archives hold attached files too. */
const largestFile = 1024 * 1024 * 1024;

interface Options {
  format?: ImportFormat;
  includeArchived?: boolean;
  includeDeleted?: boolean;
}

/**
 * Reads a file that another password manager wrote, or a pipe or device of that name, up to `largest` bytes.
 * Throws Failure (usage) for one that cannot be read as a whole.
 */
export async function readImportFile(path: string, options: Options, largest = largestFile): Promise<ImportedFile> {
  const bytes = path === "-" ? await readStdinBytes(largest) : await readNamedBytes(path, largest);
  try {
    return await readImport(bytes, {
      format: options.format,
      archived: options.includeArchived ?? false,
      deleted: options.includeDeleted ?? false,
    });
  } catch (error) {
    if (error instanceof ImportError) throw usage(`${path === "-" ? "stdin" : path}: ${error.message}`);
    throw error;
  }
}

async function readNamedBytes(path: string, largest: number): Promise<Uint8Array> {
  try {
    return await readAtMost(largest, createReadStream(path, { highWaterMark: 1024 * 1024 }), path);
  } catch (error) {
    if (error instanceof Error && "syscall" in error) throw usage(`${path} cannot be read: ${error.message}`);
    throw error;
  }
}

async function readStdinBytes(largest: number): Promise<Uint8Array> {
  if (stdinIsTerminal()) throw usage("stdin is the terminal: name a file, or put one before the command with <");
  return readAtMost(largest, process.stdin, "stdin");
}

/** What a pipe or a device gives has no size before its end, and it may have none. */
async function readAtMost(largest: number, from: AsyncIterable<unknown>, what: string): Promise<Uint8Array> {
  const chunks: Buffer[] = [];
  let size = 0;
  for await (const chunk of from) {
    size += (chunk as Buffer).length;
    if (size > largest) throw usage(`${what} is larger than ${largest / 1024 ** 3} GiB`);
    chunks.push(chunk as Buffer);
  }
  return Buffer.concat(chunks);
}
