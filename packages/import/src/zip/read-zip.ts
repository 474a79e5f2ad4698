import { configure, type FileEntry, Uint8ArrayReader, ZipReader } from "@zip.js/zip.js";
import { largestText } from "../decode-text.ts";
import { ImportError } from "../import-error.ts";

configure({ useWebWorkers: false });

/** An open archive. */
export interface Archive {
  /** The names of all files in it. */
  names: readonly string[];
  /**
   * Unpacks one file; undefined when there is none with that name. Throws ImportError `broken`,
   * `too_large`.
   */
  read(name: string): Promise<Uint8Array | undefined>;
}

/** No export has more entries, and each costs memory. */
const mostEntries = 100_000;

/**
 * Opens a zip archive and passes it to `use`. Sizes in its directory are not trusted: unpacking
 * stops at the limit. Checksums are verified. Throws ImportError `broken`, `too_large`, and what
 * `use` throws.
 */
export async function withArchive<T>(bytes: Uint8Array, use: (archive: Archive) => Promise<T>): Promise<T> {
  const reader = new ZipReader(new Uint8ArrayReader(bytes));
  try {
    const entries = new Map<string, FileEntry>();
    const generator = reader.getEntriesGenerator();
    await whole(async () => {
      for await (const entry of generator) {
        if (entry.directory) continue;
        if (entries.has(entry.filename)) throw new ImportError("broken", "the archive holds two files of one name");
        if (entries.size === mostEntries) throw new ImportError("too_large", "the archive holds too many files");
        entries.set(entry.filename, entry);
      }
    });
    return await use({
      names: [...entries.keys()],
      read: async (name) => {
        const entry = entries.get(name);
        return entry === undefined ? undefined : whole(() => unpack(entry));
      },
    });
  } finally {
    await reader.close();
  }
}

async function unpack(entry: FileEntry): Promise<Uint8Array> {
  if (entry.encrypted) throw new ImportError("encrypted", "the archive is protected by a password");
  const chunks: Uint8Array[] = [];
  let size = 0;
  const sink = new WritableStream<Uint8Array>({
    write(chunk) {
      size += chunk.length;
      if (size > largestText)
        throw new ImportError("too_large", `the archive unpacks to more than ${largestText / 1024 / 1024} MiB`);
      chunks.push(chunk);
    },
  });
  await entry.getData(sink, { checkCrc32: true });
  const bytes = new Uint8Array(size);
  let at = 0;
  for (const chunk of chunks) {
    bytes.set(chunk, at);
    at += chunk.length;
  }
  return bytes;
}

/** For a person all errors of the library are one. */
async function whole<T>(read: () => Promise<T>): Promise<T> {
  try {
    return await read();
  } catch (error) {
    if (error instanceof ImportError) throw error;
    throw new ImportError("broken", "the archive is damaged or cut short: export it again");
  }
}
