import { configure, TextReader, Uint8ArrayWriter, ZipWriter } from "@zip.js/zip.js";

configure({ useWebWorkers: false });

/** An archive with these texts, by their names. */
export async function writeZip(files: Readonly<Record<string, string>>): Promise<Uint8Array> {
  const writer = new ZipWriter(new Uint8ArrayWriter());
  for (const [name, text] of Object.entries(files)) await writer.add(name, new TextReader(text));
  return writer.close();
}
