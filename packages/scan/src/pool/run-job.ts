import { closeSync, fstatSync, openSync, readFileSync, readSync } from "node:fs";
import { open } from "node:fs/promises";
import type { Engine } from "../engine/create-engine.ts";
import { positionReader } from "../engine/positions.ts";
import { scanBytes } from "../scan-bytes.ts";
import type { BytesOptions } from "../scan-bytes.ts";
import { scanPlain } from "../scan-plain.ts";
import type { BlobReader } from "./blob-reader.ts";
import type { Job, JobResult, JobSettings } from "./job.ts";

/** Longer than every window, so that what a piece reports does not depend on where it was cut. */
const overlap = 20 * 1024;

/** Nearly all files fit into it. */
const reusedBytes = 1024 * 1024;

/** Does jobs one after the other, in this thread. */
export class JobRunner {
  readonly #engine: Engine;
  readonly #settings: JobSettings;
  readonly #readers = new Map<string, BlobReader>();
  readonly #buffer = Buffer.allocUnsafeSlow(reusedBytes);

  constructor(engine: Engine, settings: JobSettings) {
    this.#engine = engine;
    this.#settings = settings;
  }

  /** Never throws: what cannot be read is a problem in the result. */
  async run(job: Job): Promise<JobResult> {
    try {
      if (job.source.from === "piece") return await this.#runPiece(job, job.source);
      const input = await this.#read(job);
      if (!("bytes" in input)) return failed(job, input.problem);
      return { ...(await scanBytes(this.#engine, input.bytes, this.#options(job))), bytes: input.bytes.length };
    } catch (error) {
      return failed(job, reasonOf(error));
    }
  }

  close(): void {
    for (const reader of this.#readers.values()) reader.close();
  }

  async #read({ source }: Job): Promise<{ bytes: Buffer } | { problem: string }> {
    switch (source.from) {
      case "file":
        return { bytes: this.#readFile(source.file) };
      case "blob":
        return (await this.#readerOf(source.directory)).read(source.oid, this.#settings.mostBytes);
      case "bytes":
        return { bytes: Buffer.from(source.bytes) };
      case "piece":
        return { problem: "is a piece" };
    }
  }

  /**
   * The bytes of a file, valid until the next one is read: memory that was used before costs no
   * page faults. Reads without libuv's pool of threads: this thread has nothing else to do meanwhile.
   */
  #readFile(file: string): Buffer {
    const descriptor = openSync(file, "r");
    try {
      const { size } = fstatSync(descriptor);
      if (size > this.#buffer.length) return readFileSync(descriptor);
      let length = 0;
      for (let read = -1; read !== 0 && length < this.#buffer.length; length += read)
        read = readSync(descriptor, this.#buffer, length, this.#buffer.length - length, null);
      // It grew meanwhile, or is a device that has no size.
      return length === this.#buffer.length ? readFileSync(file) : this.#buffer.subarray(0, length);
    } finally {
      closeSync(descriptor);
    }
  }

  async #readerOf(directory: string): Promise<BlobReader> {
    const present = this.#readers.get(directory);
    if (present !== undefined) return present;
    const { BlobReader } = await import("./blob-reader.ts");
    const reader = new BlobReader(directory);
    this.#readers.set(directory, reader);
    return reader;
  }

  async #runPiece(job: Job, { file, start, end, size }: Extract<Job["source"], { from: "piece" }>): Promise<JobResult> {
    const from = Math.max(0, start - overlap);
    const to = Math.min(size, end + overlap);
    const handle = await open(file);
    try {
      const buffer = Buffer.allocUnsafe(to - from);
      let filled = 0;
      while (filled < buffer.length) {
        const { bytesRead } = await handle.read(buffer, filled, buffer.length - filled, from + filled);
        if (bytesRead === 0) return failed(job, "became shorter while it was read");
        filled += bytesRead;
      }
      const cut = { bytes: buffer, openStart: from > 0, openEnd: to < size };
      const piece = { from: start - from, to: end - from };
      const own = buffer.subarray(piece.from, piece.to);
      const { line, column } = positionReader(own)(own.length);
      return {
        ...scanPlain(this.#engine, cut, this.#options(job), piece),
        binary: [],
        bytes: own.length,
        lines: { breaks: line - 1, columns: column - 1 },
      };
    } finally {
      await handle.close();
    }
  }

  #options({ path, pathBelow, commit }: Job): BytesOptions {
    const { compatibleComments, showSecrets, binary } = this.#settings;
    return {
      path,
      compatibleComments,
      showSecrets,
      binary,
      ...(pathBelow === undefined ? {} : { pathBelow }),
      ...(commit === undefined ? {} : { commit }),
    };
  }
}

export function failed({ path }: Job, message: string): JobResult {
  return { occurrences: [], problems: [{ path, message }], binary: [], bytes: 0 };
}

/** A reason without the path, which stands before it. */
function reasonOf(error: unknown): string {
  if (!(error instanceof Error)) return "cannot be read";
  const { code } = error as NodeJS.ErrnoException;
  return code === undefined ? `cannot be scanned: ${error.message}` : `cannot be read: ${code}`;
}
