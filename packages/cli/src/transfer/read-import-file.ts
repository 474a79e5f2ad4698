import { createReadStream } from "node:fs";
import {
  columnFields,
  type ColumnMap,
  type ImportedFile,
  ImportError,
  type ImportFormat,
  isColumnField,
  readImport,
} from "@coffer/import";
import { usage } from "../failure.ts";
import { stdinIsTerminal } from "../input/stdin-is-terminal.ts";

/** The size limit in bytes. Archives also contain attached files. */
const largestFile = 1024 * 1024 * 1024;

interface Options {
  format?: ImportFormat;
  /** `column=field` */
  map?: readonly string[];
  includeArchived?: boolean;
  includeDeleted?: boolean;
}

/**
 * Reads a file of another password manager, or a pipe or device with that name, up to `largest`
 * bytes. Throws Failure (usage) for one that cannot be read completely.
 */
export async function readImportFile(path: string, options: Options, largest = largestFile): Promise<ImportedFile> {
  const map = columnMap(options.map ?? []);
  const bytes = path === "-" ? await readStdinBytes(largest) : await readNamedBytes(path, largest);
  try {
    return await readImport(bytes, {
      format: options.format,
      map,
      archived: options.includeArchived ?? false,
      deleted: options.includeDeleted ?? false,
    });
  } catch (error) {
    if (error instanceof ImportError) throw usage(`${path === "-" ? "stdin" : path}: ${error.message}`);
    throw error;
  }
}

/** Throws Failure (usage) for a malformed `column=field`, and for an unknown field. */
function columnMap(pairs: readonly string[]): ColumnMap {
  const fields = pairs.map((pair) => {
    const at = pair.lastIndexOf("=");
    const [column, field] = [pair.slice(0, Math.max(at, 0)).trim(), pair.slice(at + 1).trim()];
    if (column === "") throw usage(`--map takes <column>=<field>, for instance "Salasana=password"`);
    if (!isColumnField(field))
      throw usage(
        `--map: no record has a field "${field}"; fields: ${columnFields.join(", ")}, custom, custom.<name>, none`,
      );
    return [column, field] as const;
  });
  // A column may have any name, also that of an object's built-in member.
  return Object.fromEntries(fields);
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

/** A pipe or a device has no known size, and possibly no end. */
async function readAtMost(largest: number, from: AsyncIterable<Buffer>, what: string): Promise<Uint8Array> {
  const chunks: Buffer[] = [];
  let size = 0;
  for await (const chunk of from) {
    size += chunk.length;
    if (size > largest) throw usage(`${what} is larger than ${largest / 1024 ** 3} GiB`);
    chunks.push(chunk);
  }
  return Buffer.concat(chunks);
}
