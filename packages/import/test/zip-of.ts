import { configure, TextReader, Uint8ArrayReader, Uint8ArrayWriter, ZipWriter } from "@zip.js/zip.js";

configure({ useWebWorkers: false });

/** An archive with these files. */
export async function zipOf(files: Readonly<Record<string, Uint8Array | string>>): Promise<Uint8Array> {
  const writer = new ZipWriter(new Uint8ArrayWriter());
  for (const [name, content] of Object.entries(files))
    await writer.add(name, typeof content === "string" ? new TextReader(content) : new Uint8ArrayReader(content));
  return writer.close();
}
