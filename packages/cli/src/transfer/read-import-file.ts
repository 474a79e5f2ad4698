import { readFile, stat } from "node:fs/promises";
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

/** Reads a file that another password manager wrote. Throws Failure (usage) for one that cannot be read as a whole. */
export async function readImportFile(path: string, options: Options): Promise<ImportedFile> {
  const bytes = path === "-" ? await readStdinBytes() : await readNamedBytes(path);
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

async function readNamedBytes(path: string): Promise<Uint8Array> {
  try {
    const { size } = await stat(path);
    if (size > largestFile) throw tooLarge(path);
    return await readFile(path);
  } catch (error) {
    if (error instanceof Error && "syscall" in error) throw usage(`${path} cannot be read: ${error.message}`);
    throw error;
  }
}

async function readStdinBytes(): Promise<Uint8Array> {
  if (stdinIsTerminal()) throw usage("stdin is the terminal: name a file, or put one before the command with <");
  const chunks: Buffer[] = [];
  let size = 0;
  for await (const chunk of process.stdin) {
    size += (chunk as Buffer).length;
    if (size > largestFile) throw tooLarge("stdin");
    chunks.push(chunk as Buffer);
  }
  return Buffer.concat(chunks);
}

function tooLarge(what: string): Error {
  return usage(`${what} is larger than 1 GiB`);
}
