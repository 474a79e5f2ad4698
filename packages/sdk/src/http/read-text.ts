/**
 * The body as text; undefined if it has more than `maxBytes`, and the rest is not read. Without a
 * limit a server could fill the memory of every client.
 */
export async function readText({ body }: Response, maxBytes: number): Promise<string | undefined> {
  if (body === null) return "";
  const reader: ReadableStreamDefaultReader<Uint8Array<ArrayBuffer>> = body.getReader();
  const chunks: Uint8Array<ArrayBuffer>[] = [];
  let bytes = 0;
  for (;;) {
    const { done, value } = await reader.read();
    if (done) return new Blob(chunks).text();
    bytes += value.length;
    if (bytes > maxBytes) {
      await reader.cancel();
      return undefined;
    }
    chunks.push(value);
  }
}
