import { spawn } from "node:child_process";
import type { ChildProcessWithoutNullStreams } from "node:child_process";

/** The content of a git object, or why it is missing. */
export type Blob = { bytes: Buffer } | { problem: string };

/** Reads objects of a repository, all through one process of git. One read at a time. */
export class BlobReader {
  readonly #git: ChildProcessWithoutNullStreams;
  readonly #chunks: Buffer[] = [];
  #failure: string | undefined;
  #wake: () => void = () => undefined;

  constructor(directory: string) {
    this.#git = spawn("git", ["-C", directory, "cat-file", "--batch"], {
      stdio: ["pipe", "pipe", "pipe"],
      // A partial clone must not fetch over the network.
      env: { ...process.env, GIT_NO_LAZY_FETCH: "1" },
    });
    this.#git.stdout.on("data", (chunk: Buffer) => {
      this.#chunks.push(chunk);
      this.#wake();
    });
    const fail = (why: string): void => {
      this.#failure ??= why;
      this.#wake();
    };
    this.#git.on("error", (error) => fail(`git cannot be started: ${error.message}`));
    this.#git.on("close", () => fail("git ended"));
    this.#git.stdin.on("error", () => fail("git ended"));
    this.#git.stderr.resume();
  }

  /** Reads an object by its id. `most` is the largest size in bytes that is read; 0 is no limit. */
  async read(oid: string, most: number): Promise<Blob> {
    this.#git.stdin.write(`${oid}\n`);
    const header = await this.#line();
    if (header === undefined) return { problem: this.#failure ?? "git ended" };
    const size = Number(/ \w+ (\d+)$/.exec(header)?.[1]);
    if (!Number.isSafeInteger(size)) return { problem: "git does not have this object" };
    const bytes = await this.#take(size + 1, most > 0 && size > most);
    if (bytes === undefined) return { problem: this.#failure ?? "git ended" };
    return most > 0 && size > most
      ? { problem: `is larger than ${Math.round(most / 1024 / 1024)} MiB` }
      : { bytes: bytes.subarray(0, size) };
  }

  close(): void {
    this.#git.stdin.end();
  }

  async #line(): Promise<string | undefined> {
    for (;;) {
      const held = this.#chunks.length > 1 ? this.#joined() : this.#chunks[0];
      const end = held?.indexOf(0x0a) ?? -1;
      if (held !== undefined && end >= 0) {
        this.#chunks[0] = held.subarray(end + 1);
        return held.toString("utf8", 0, end);
      }
      if (!(await this.#more())) return undefined;
    }
  }

  async #take(count: number, drop: boolean): Promise<Buffer | undefined> {
    const parts: Buffer[] = [];
    let missing = count;
    while (missing > 0) {
      const chunk = this.#chunks.shift();
      if (chunk === undefined) {
        if (!(await this.#more())) return undefined;
        continue;
      }
      const part = chunk.subarray(0, missing);
      if (part.length < chunk.length) this.#chunks.unshift(chunk.subarray(part.length));
      if (!drop) parts.push(part);
      missing -= part.length;
    }
    return Buffer.concat(parts);
  }

  #joined(): Buffer {
    const joined = Buffer.concat(this.#chunks);
    this.#chunks.splice(0, Infinity, joined);
    return joined;
  }

  async #more(): Promise<boolean> {
    const before = this.#chunks.length;
    if (this.#failure !== undefined) return false;
    await new Promise<void>((done) => (this.#wake = done));
    return this.#chunks.length > before;
  }
}
