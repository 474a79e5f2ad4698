import { connect, type Socket } from "node:net";
import { bytesOf, type RawRequest } from "./request.ts";

/** The response to one request. */
export interface RawAnswer {
  status: number;
  headers: Headers;
  body: string;
}

/** One connection to a server, for any bytes. */
export interface Wire {
  /**
   * Sends a request and waits for its response. Null if the server closed the connection without one.
   * @throws Error after a timeout, for a response that is not HTTP, or without a listener
   */
  send(request: RawRequest): Promise<RawAnswer | null>;
  close(): void;
}

const headEnd = Buffer.from("\r\n\r\n");

/** Opens connections to `url` on demand, one at a time. */
export function createWire(url: string, timeoutMilliseconds: number): Wire {
  const { hostname, port } = new URL(url);
  let reusableSocket: Socket | null = null;

  const open = async (): Promise<Socket> => {
    const socket = connect(Number(port), hostname);
    socket.setNoDelay(true);
    await new Promise<void>((resolve, reject) => {
      socket.once("connect", resolve);
      socket.once("error", reject);
    });
    return socket;
  };

  const send = async (request: RawRequest): Promise<RawAnswer | null> => {
    const reused = reusableSocket !== null && !reusableSocket.destroyed && request.breaksConnection !== true;
    const socket = reused && reusableSocket !== null ? reusableSocket : await open();
    if (!reused && request.breaksConnection !== true) reusableSocket = socket;
    const { answer, reusable } = await exchange(socket, request, timeoutMilliseconds);
    if (!reusable || request.breaksConnection === true) {
      socket.destroy();
      if (reusableSocket === socket) reusableSocket = null;
    }
    // A reused connection may have been closed just before the request.
    if (answer === null && reused) return send(request);
    return answer;
  };
  return { send, close: () => reusableSocket?.destroy() };
}

interface Outcome {
  answer: RawAnswer | null;
  reusable: boolean;
}

function exchange(socket: Socket, request: RawRequest, timeoutMilliseconds: number): Promise<Outcome> {
  return new Promise((resolve, reject) => {
    let received: Buffer = Buffer.alloc(0);
    const finish = (work: () => void): void => {
      clearTimeout(timer);
      socket.off("data", take).off("close", ended).off("error", failed);
      work();
    };
    const take = (chunk: Buffer): void => {
      received = received.length === 0 ? chunk : Buffer.concat([received, chunk]);
      const parsed = parseAnswer(received, request.method);
      if (parsed === null) return;
      if (typeof parsed === "string") {
        finish(() => reject(new Error(parsed)));
        return;
      }
      const { answer, rest } = parsed;
      const reusable = rest === 0 && answer.headers.get("connection") !== "close";
      finish(() => resolve({ answer, reusable }));
    };
    const ended = (): void => finish(() => resolve({ answer: null, reusable: false }));
    // A reset counts as a close; a stopped server shows at the next connection.
    const failed = ended;
    const timer = setTimeout(
      () => finish(() => reject(new Error(`no answer within ${timeoutMilliseconds} ms`))),
      timeoutMilliseconds,
    );
    socket.on("data", take).on("close", ended).on("error", failed);
    socket.write(bytesOf(request));
    // A request that announces more than it sends would wait forever.
    if (request.breaksConnection === true) socket.end();
  });
}

/**
 * The first complete response in the received bytes, and the number of bytes after it; null while it
 * is incomplete; a sentence for malformed bytes.
 */
export function parseAnswer(received: Buffer, method: string): { answer: RawAnswer; rest: number } | string | null {
  const end = received.indexOf(headEnd);
  if (end === -1) return null;
  const [first = "", ...lines] = received.toString("latin1", 0, end).split("\r\n");
  const status = Number(/^HTTP\/1\.1 ([1-5][0-9]{2}) /.exec(first)?.[1]);
  if (Number.isNaN(status)) return `no HTTP answer: ${first.slice(0, 100)}`;
  const start = end + headEnd.length;
  if (status < 200) return parseAnswer(received.subarray(start), method);
  const headers = new Headers(lines.map((line) => partsOf(line)));
  const found = bodyIn(received.subarray(start), method, status, headers);
  if (found === null || typeof found === "string") return found;
  return {
    answer: { status, headers, body: found.body.toString("utf8") },
    rest: received.length - start - found.length,
  };
}

/** The body at the start of the bytes after the headers, and its encoded length. */
function bodyIn(
  bytes: Buffer,
  method: string,
  status: number,
  headers: Headers,
): { body: Buffer; length: number } | string | null {
  if (method === "HEAD" || status === 204 || status === 304) return { body: Buffer.alloc(0), length: 0 };
  if (headers.get("transfer-encoding") === "chunked") return chunksIn(bytes);
  const length = Number(headers.get("content-length") ?? Number.NaN);
  if (!Number.isSafeInteger(length)) return `an answer of unknown length, status ${status}`;
  return bytes.length < length ? null : { body: bytes.subarray(0, length), length };
}

function chunksIn(bytes: Buffer): { body: Buffer; length: number } | string | null {
  const chunks: Buffer[] = [];
  for (let at = 0; ;) {
    const end = bytes.indexOf("\r\n", at);
    if (end === -1) return null;
    const size = Number.parseInt(bytes.toString("latin1", at, end), 16);
    if (Number.isNaN(size)) return "an answer with a broken chunk";
    at = end + 2 + size + 2;
    if (bytes.length < at) return null;
    if (size === 0) return { body: Buffer.concat(chunks), length: at };
    chunks.push(bytes.subarray(end + 2, end + 2 + size));
  }
}

function partsOf(line: string): [string, string] {
  const colon = line.indexOf(":");
  return [line.slice(0, colon), line.slice(colon + 1).trim()];
}
