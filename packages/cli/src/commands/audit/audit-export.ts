import { type FileHandle, open } from "node:fs/promises";
import { filterOf, type FilterOptions, pagesOf } from "../../audit/audit-filter.ts";
import { type ExportFormat, headingOf, lineOf, seqOf } from "../../audit/audit-lines.ts";
import type { Call, PersonOptions } from "../../command-row.ts";
import { usage } from "../../failure.ts";
import { errorCode } from "../../files/error-code.ts";
import { countOf, printNotice, visible } from "../../output/output.ts";
import { asPerson } from "../../service/access.ts";

interface ExportOptions extends Omit<PersonOptions, "json">, FilterOptions {
  format?: ExportFormat;
  out?: string;
  resume?: boolean;
  after?: string;
}

/** The destination of the lines, and the `seq` after which they continue. */
interface Target {
  after: number | undefined;
  isEmpty: boolean;
  write(lines: readonly string[]): Promise<void>;
  close(): Promise<void>;
}

/**
 * `coffer audit export`: the audit records of the organization, oldest first, page by page. However
 * an export ends, the file contains whole lines, and `--resume` continues after the last one.
 */
export async function exportAudit({ options, env }: Call<ExportOptions>): Promise<void> {
  const { format = "jsonl", out, resume = false, after } = options;
  if (resume && out === undefined) throw usage("--resume goes on with the file of --out");
  if (resume && after !== undefined) throw usage("take --resume or --after");
  if (after !== undefined && !/^\d{1,15}$/.test(after)) throw usage("--after is the seq of a record");
  const filter = filterOf(options);
  const person = await asPerson(options, env);
  const start = after === undefined ? undefined : Number(after);
  const target = out === undefined ? stdoutTarget(start) : await fileTarget(out, format, { resume, start });
  let exported = 0;
  try {
    const heading = headingOf(format);
    if (target.isEmpty && heading !== undefined) await target.write([heading]);
    for await (const { records } of pagesOf(person, { ...filter, after: target.after })) {
      await target.write(records.map((record) => lineOf(format, record)));
      exported += records.length;
    }
  } finally {
    await target.close();
    printNotice(`exported ${countOf(exported, "record")}${out === undefined ? "" : ` to ${visible(out)}`}`);
  }
}

function stdoutTarget(after: number | undefined): Target {
  return {
    after,
    isEmpty: true,
    write: (lines) => {
      const text = lines.map((each) => `${each}\n`).join("");
      // Waits for a slow reader. main handles a closed pipe.
      return new Promise((resolve) => void process.stdout.write(text, () => resolve()));
    },
    close: () => Promise.resolve(),
  };
}

async function fileTarget(
  path: string,
  format: ExportFormat,
  { resume, start }: { resume: boolean; start: number | undefined },
): Promise<Target> {
  const file = resume ? await openPresent(path) : await openNew(path);
  try {
    const { end, line } = resume ? await lastLine(file) : { end: 0, line: undefined };
    const isHeading = line !== undefined && line === headingOf(format);
    const last = line === undefined || isHeading ? start : seqOf(format, line);
    if (last === null) throw usage(`${visible(path)} is no export in the format ${format}`);
    // Removes the partial line of a killed export.
    await file.truncate(end);
    let position = end;
    return {
      after: last,
      isEmpty: end === 0,
      async write(lines) {
        const bytes = Buffer.from(lines.map((each) => `${each}\n`).join(""));
        for (let at = 0; at < bytes.length;)
          at += (await file.write(bytes, at, bytes.length - at, position + at)).bytesWritten;
        position += bytes.length;
      },
      close: () => file.close(),
    };
  } catch (error) {
    await file.close();
    throw error;
  }
}

async function openNew(path: string): Promise<FileHandle> {
  try {
    return await open(path, "wx", 0o600);
  } catch (error) {
    if (errorCode(error) !== "EEXIST") throw cannotWrite(path, error);
    throw usage(`${visible(path)} exists already: continue it with --resume, or name another file`);
  }
}

async function openPresent(path: string): Promise<FileHandle> {
  try {
    return await open(path, "r+");
  } catch (error) {
    throw cannotWrite(path, error);
  }
}

function cannotWrite(path: string, error: unknown): Error {
  return usage(`${visible(path)} cannot be written: ${errorCode(error) ?? "unknown error"}`);
}

/** The last whole line of a file, and its end; undefined and 0 when there is none. */
async function lastLine(file: FileHandle): Promise<{ end: number; line: string | undefined }> {
  const { size } = await file.stat();
  for (let length = Math.min(size, 65_536); ; length = Math.min(size, length * 4)) {
    const { buffer, bytesRead } = await file.read(Buffer.alloc(length), 0, length, size - length);
    const bytes = buffer.subarray(0, bytesRead);
    const last = bytes.lastIndexOf("\n");
    const before = last <= 0 ? -1 : bytes.lastIndexOf("\n", last - 1);
    if (length < size && before === -1) continue;
    if (last === -1) return { end: 0, line: undefined };
    return { end: size - length + last + 1, line: bytes.toString("utf8", before + 1, last) };
  }
}
