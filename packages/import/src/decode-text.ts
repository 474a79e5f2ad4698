import { ImportError } from "./import-error.ts";

/** The size limit of a text file in bytes. A hundred thousand items are far below it. */
export const largestText = 128 * 1024 * 1024;

/**
 * The text of a file: UTF-8, or UTF-16 with a byte order mark, as spreadsheets write it. Removes
 * the mark. Throws ImportError `broken` for anything else, `too_large`.
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

/** Parses the text as JSON. Throws ImportError `broken`, without a quote. */
export function decodeJson(bytes: Uint8Array): unknown {
  const text = decodeText(bytes);
  try {
    return JSON.parse(text);
  } catch {
    throw new ImportError("broken", "the file is not whole JSON: export it again");
  }
}
