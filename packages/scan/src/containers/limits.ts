/** How much may come out of one file, so that a small archive cannot fill the memory. */
export interface UnpackLimits {
  /** Bytes that come out of one file, all levels together. */
  bytes: number;
  /** How many times larger than the file its content may be, once it exceeds `ratioFrom` bytes. */
  ratio: number;
  ratioFrom: number;
  /** Members of one file, all levels together. */
  members: number;
  /** Containers inside one another. */
  depth: number;
}

export const unpackLimits: UnpackLimits = {
  bytes: 256 * 1024 * 1024,
  ratio: 200,
  ratioFrom: 8 * 1024 * 1024,
  members: 10_000,
  depth: 4,
};

/** A bound was met: the message says which one. */
export class UnpackLimitError extends Error {
  constructor(message: string) {
    super(message);
    this.name = "UnpackLimitError";
  }
}

/** How much may still be unpacked from one file. */
export class UnpackBudget {
  readonly #limits: UnpackLimits;
  readonly #most: number;
  #bytes = 0;
  #members = 0;

  constructor(fileSize: number, limits: UnpackLimits = unpackLimits) {
    this.#limits = limits;
    this.#most = Math.min(limits.bytes, Math.max(limits.ratioFrom, fileSize * limits.ratio));
  }

  get depth(): number {
    return this.#limits.depth;
  }

  /** The bytes that may still come out. */
  get left(): number {
    return this.#most - this.#bytes;
  }

  /** Throws UnpackLimitError when that is too much. */
  takeBytes(count: number): void {
    this.#bytes += count;
    if (this.#bytes > this.#most) throw this.tooMuch();
  }

  takeMember(): void {
    this.#members += 1;
    if (this.#members > this.#limits.members)
      throw new UnpackLimitError(`holds more than ${this.#limits.members} files`);
  }

  /** Nothing more comes out of this file: the limits of an archive count for the archives in it. */
  tooMuch(): UnpackLimitError {
    this.#bytes = Infinity;
    return new UnpackLimitError(`unpacks to more than ${Math.round(this.#most / 1024 / 1024)} MiB`);
  }
}
