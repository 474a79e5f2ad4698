import { fsyncSync, readSync, writeFileSync } from "node:fs";
import { pipeline as pipe, Readable } from "node:stream";
import { pipeline } from "node:stream/promises";
import { createGunzip, createGzip } from "node:zlib";
import type { DatabaseItem } from "@coffer/stores";
import { StartupError } from "../startup-error.ts";

/** Another number if earlier versions of Coffer cannot read the file. */
export const backupFormat = 1;

/** The first line of a backup. */
export interface BackupHeader {
  /** The format of the file. */
  coffer_backup: number;
  /** The version of Coffer that made it. */
  version: string;
  created_at: string;
  /** The format of the data directory. */
  data_format: number;
  first_ready_at: string | null;
  /** The key that seals the credentials of SIEM endpoints. Backups of former versions have none. */
  siem_key?: string;
  /** The checksum of each applied migration, by schema and name. */
  migrations: Record<string, Record<string, string>>;
}

/** The last line, which shows that the file is complete. */
interface BackupEnd {
  end: { rows: number };
}

/** Writes a backup, lines of JSON in gzip, to an open file and to disk. Returns the number of rows. */
export async function writeBackup(
  file: number,
  header: BackupHeader,
  items: AsyncIterable<DatabaseItem>,
): Promise<number> {
  let rows = 0;
  async function* lines(): AsyncGenerator<string> {
    yield `${JSON.stringify(header)}\n`;
    for await (const item of items) {
      if ("row" in item) rows += 1;
      yield `${JSON.stringify(item)}\n`;
    }
    const last: BackupEnd = { end: { rows } };
    yield `${JSON.stringify(last)}\n`;
  }
  await pipeline(Readable.from(lines()), createGzip(), async (packed: AsyncIterable<Buffer>) => {
    for await (const chunk of packed) writeFileSync(file, chunk);
  });
  fsyncSync(file);
  return rows;
}

export interface OpenedBackup {
  header: BackupHeader;
  rows: number;
  /** The content of the file, read again from its start. */
  items(): AsyncGenerator<DatabaseItem>;
}

/**
 * Reads the whole backup once, to detect a damaged or incomplete file before any change. `file` is open,
 * `path` is for messages. Throws StartupError for other files, incomplete ones, and newer formats.
 */
export async function openBackup(file: number, path: string): Promise<OpenedBackup> {
  let header: BackupHeader | null = null;
  let rows = 0;
  let end: BackupEnd["end"] | null = null;
  for await (const line of readLines(file, path)) {
    if (header === null) header = checkHeader(line, path);
    else if (end !== null) throw damaged(path);
    else if ("end" in line) end = line.end;
    else if ("row" in line) rows += 1;
  }
  if (header === null) throw noBackup(path);
  if (end?.rows !== rows) throw damaged(path);
  async function* items(): AsyncGenerator<DatabaseItem> {
    for await (const line of readLines(file, path)) if (!("coffer_backup" in line) && !("end" in line)) yield line;
  }
  return { header, rows, items };
}

function checkHeader(line: Line, path: string): BackupHeader {
  if (!("coffer_backup" in line) || typeof line.coffer_backup !== "number") throw noBackup(path);
  if (line.coffer_backup > backupFormat)
    throw new StartupError(
      `${path} was made by a later version of Coffer (${line.version}): its format is ${line.coffer_backup}, this ` +
        `version reads ${backupFormat}; restore it with that version`,
    );
  return line;
}

type Line = BackupHeader | DatabaseItem | BackupEnd;

/** The lines of the file, which stays open. Throws StartupError. */
async function* readLines(file: number, path: string): AsyncGenerator<Line> {
  const unpacked = createGunzip();
  // An error of either ends the loop below.
  pipe(Readable.from(readChunks(file)), unpacked, () => undefined);
  unpacked.setEncoding("utf8");
  let rest = "";
  let lines = 0;
  try {
    for await (const chunk of unpacked as AsyncIterable<string>) {
      const parts = chunk.split("\n");
      const last = parts.pop() ?? "";
      for (const part of parts) {
        const line = JSON.parse(rest + part) as Line | null; // what writeBackup writes; the first line is checked
        if (typeof line !== "object" || line === null) throw noBackup(path);
        lines += 1;
        rest = "";
        yield line;
      }
      rest += last;
    }
  } catch (error) {
    throw lines === 0 ? noBackup(path, error) : damaged(path, error);
  }
  if (rest !== "") throw lines === 0 ? noBackup(path) : damaged(path);
}

function* readChunks(file: number): Generator<Buffer> {
  for (let position = 0; ;) {
    const chunk = Buffer.alloc(1 << 16);
    const size = readSync(file, chunk, 0, chunk.length, position);
    if (size === 0) return;
    position += size;
    yield chunk.subarray(0, size);
  }
}

function noBackup(path: string, cause?: unknown): StartupError {
  return new StartupError(`${path} is no backup of Coffer: npm run backup makes them`, { cause });
}

function damaged(path: string, cause?: unknown): StartupError {
  return new StartupError(`${path} is damaged or not whole: take another backup`, { cause });
}
