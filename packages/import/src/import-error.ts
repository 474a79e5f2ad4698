/**
 * `wrong_format` (another format than the one that was asked for), `unknown_format` (none that is read), `encrypted`
 * (only the program that wrote it can open it), `broken` (the format's own rules are not kept), `too_large`, `refused`
 * (what no honest file needs and attacks are made of).
 */
export type ImportErrorCode = "wrong_format" | "unknown_format" | "encrypted" | "broken" | "too_large" | "refused";

/** A file that cannot be read as a whole. `message` is for a person and quotes nothing of what the file holds. */
export class ImportError extends Error {
  readonly code: ImportErrorCode;

  constructor(code: ImportErrorCode, message: string) {
    super(message);
    this.name = "ImportError";
    this.code = code;
  }
}
