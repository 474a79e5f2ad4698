/**
 * `wrong_format` (not the requested format), `unknown_format` (not supported), `encrypted` (only
 * the program that wrote it can open it), `broken` (violates its format), `too_large`, `refused` (a
 * feature that only attacks use).
 */
export type ImportErrorCode = "wrong_format" | "unknown_format" | "encrypted" | "broken" | "too_large" | "refused";

/**
 * A file that cannot be read completely. `message` is for a person and quotes nothing of the file.
 */
export class ImportError extends Error {
  readonly code: ImportErrorCode;

  constructor(code: ImportErrorCode, message: string) {
    super(message);
    this.name = "ImportError";
    this.code = code;
  }
}
