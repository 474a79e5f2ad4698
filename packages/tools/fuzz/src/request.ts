/** A request as it is sent, byte for byte, valid or not. */
export interface RawRequest {
  method: string;
  /** Path and query, or other text. Characters up to U+00FF are bytes. */
  target: string;
  /** In this order. Characters up to U+00FF are bytes. */
  headers: [name: string, value: string][];
  body: Buffer | undefined;
  /** The final body is sent as one chunk, without a length. */
  chunked?: boolean;
  /** Replaces the length of the body; empty for none. */
  announced?: string;
  /**
   * The server may not understand what follows on the connection, or not answer at all: the connection
   * is not reused, and a missing response is allowed.
   */
  breaksConnection?: boolean;
}

/** The bytes of a request. */
export function bytesOf({ method, target, headers, body, chunked = false, announced }: RawRequest): Buffer {
  const length = announced ?? (body === undefined || chunked ? "" : String(body.length));
  const lines = [
    `${method} ${target} HTTP/1.1`,
    ...headers.map(([name, value]) => `${name}: ${value}`),
    ...(length === "" ? [] : [`Content-Length: ${length}`]),
    ...(chunked ? ["Transfer-Encoding: chunked"] : []),
  ];
  const bytes = body ?? Buffer.alloc(0);
  return Buffer.concat([
    Buffer.from(`${lines.join("\r\n")}\r\n\r\n`, "latin1"),
    ...(chunked ? inOneChunk(bytes) : [bytes]),
  ]);
}

function inOneChunk(body: Buffer): Buffer[] {
  const end = Buffer.from("0\r\n\r\n");
  // An empty chunk is the end itself.
  return body.length === 0 ? [end] : [Buffer.from(`${body.length.toString(16)}\r\n`), body, Buffer.from("\r\n"), end];
}

/** The first value of a header; undefined without one. */
export function headerOf({ headers }: RawRequest, name: string): string | undefined {
  return headers.find(([other]) => other.toLowerCase() === name)?.[1];
}

/** Replaces a header, or adds it. */
export function setHeader(request: RawRequest, name: string, value: string): void {
  const at = request.headers.findIndex(([other]) => other.toLowerCase() === name.toLowerCase());
  if (at === -1) request.headers.push([name, value]);
  else request.headers[at] = [name, value];
}

/** A request for people: at most `most` characters of its body. */
export function shownRequest(request: RawRequest, most = 300): string {
  const text = bytesOf(request)
    .toString("latin1")
    .replace(/^(Authorization: Bearer \S{20})\S+/im, "$1…");
  const end = text.indexOf("\r\n\r\n") + 4;
  const shown = text.slice(0, Math.min(end, 2000) + most);
  const cut = text.length > shown.length ? `… (${text.length} bytes)` : "";
  return (
    Array.from(shown, (character) => (/[\x20-\x7e\n]/.test(character) ? character : escaped(character))).join("") + cut
  );
}

function escaped(character: string): string {
  return character === "\r" ? "" : `\\x${character.charCodeAt(0).toString(16).padStart(2, "0")}`;
}
