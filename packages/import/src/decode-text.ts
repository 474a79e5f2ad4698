import { ImportError } from "./import-error.ts";

/** The most that a text file may have, in bytes: a hundred thousand items are far below. */
export const largestText = 128 * 1024 * 1024;

/**
 * The text of a file: UTF-8, or UTF-16 where a byte order mark says so (spreadsheets write that). The mark is taken off.
 * Throws ImportError `broken` for anything else, `too_large`.
 */
export function decodeText(bytes: Uint8Array): string {
  if (bytes.length > largestText)
    throw new ImportError("too_large", `the text is larger than ${largestText / 1024 / 1024} MiB`);
  const [first, second] = bytes;
  const encoding =
    first === 0xff && second === 0xfe ? "utf-16le" : first === 0xfe && second === 0xff ? "utf-16be" : "utf-8";
  try {
    return new TextDecoder(encoding, { fatal: true }).decode(bytes);
  } catch {
    throw new ImportError("broken", "the file is not UTF-8 text: export it again, or save it as UTF-8");
  }
}

/** The text as JSON. Throws ImportError `broken`, without quoting it. */
export function decodeJson(bytes: Uint8Array): unknown {
  const text = decodeText(bytes);
  try {
    return JSON.parse(text);
  } catch {
    throw new ImportError("broken", "the file is not whole JSON: export it again");
  }
}
