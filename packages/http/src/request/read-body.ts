import { isUtf8 } from "node:buffer";
import type { IncomingMessage, ServerResponse } from "node:http";
import { createGunzip } from "node:zlib";
import { ServiceError } from "@coffer/errors";
import { checkStructure } from "./check-structure.ts";
import { createGather } from "./gather.ts";
import type { BodyMemory } from "../memory/memory-limits.ts";
import type { Route } from "../route.ts";

/** The caller disconnected before its body was complete. */
export class RequestAborted extends Error {
  constructor() {
    super("the request ended before its body");
    this.name = "RequestAborted";
  }
}

/** The JSON limits of a route. */
type JsonLimits = Pick<Route<never>, "bodyLimitBytes" | "gzip" | "tokensPerKibibyte">;

/** Largest expansion of a compressed body. Honest JSON with base64 reaches about 10. */
const mostExpansion = 20;
/** Inflated bytes without a ratio check. */
const freeBytes = 16 * 1024;
/**
 * Chunks of any size that a body may have; further ones hold `meanChunkBytes` on average. A chunk
 * costs 1 to 2 µs, whatever its size. TCP segments hold at least 536 bytes and proxies send whole
 * buffers. A client that writes each value by itself stays below 16,384 chunks.
 */
const freeChunks = 16 * 1024;
const meanChunkBytes = 512;

/**
 * Reads a raw body of at most `limitBytes`.
 * @throws ServiceError `payload_too_large`, `rate_limited`, `unavailable`, `invalid_request` for a content
 *   coding; RequestAborted
 */
export async function readBytes(
  request: IncomingMessage,
  response: ServerResponse,
  limitBytes: number,
  memory: BodyMemory,
): Promise<Buffer> {
  checkLength(request, limitBytes);
  if (codingOf(request) !== "identity")
    throw new ServiceError("invalid_request", "the body must come without Content-Encoding");
  return receive(request, response, limitBytes, memory);
}

/**
 * Reads a JSON body within `limits`, counted after decompression. Checks the structure before
 * parsing.
 * @throws ServiceError `payload_too_large`, `rate_limited`, `unavailable`; `invalid_request` for
 *   another type, charset or coding, invalid UTF-8 or JSON; RequestAborted
 */
export async function readJson(
  request: IncomingMessage,
  response: ServerResponse,
  limits: JsonLimits,
  memory: BodyMemory,
): Promise<unknown> {
  if (!hasBody(request)) throw new ServiceError("invalid_request", "a JSON body is required");
  checkType(request.headers["content-type"]);
  const bytes = await readDecoded(request, response, limits, memory);
  if (bytes.length === 0) throw new ServiceError("invalid_request", "a JSON body is required");
  if (!isUtf8(bytes)) throw new ServiceError("invalid_request", "the body is not UTF-8");
  checkStructure(bytes, limits.tokensPerKibibyte);
  try {
    return JSON.parse(bytes.toString("utf8"));
  } catch {
    // The parser's message quotes the body.
    throw new ServiceError("invalid_request", "the body is not valid JSON");
  }
}

/** Whether a request announces a body. */
export function hasBody({ headers }: IncomingMessage): boolean {
  return headers["transfer-encoding"] !== undefined || (headers["content-length"] ?? "0") !== "0";
}

/** Whether the inflated body may be larger than `bytes`. True without a Content-Length. */
export function mayExceed(request: IncomingMessage, bytes: number): boolean {
  if (!hasBody(request)) return false;
  const { "content-length": announced, "content-encoding": coding = "identity" } = request.headers;
  if (announced === undefined) return true;
  return Number(announced) * (coding === "identity" ? 1 : mostExpansion) > bytes;
}

function checkType(type = ""): void {
  if (type === "application/json") return;
  const [name = "", ...parameters] = type.split(";");
  if (name.trim().toLowerCase() !== "application/json")
    throw new ServiceError("invalid_request", "the body must be sent as application/json");
  for (const parameter of parameters) {
    const charset = /^\s*charset\s*=\s*"?([^"\s]*)"?\s*$/i.exec(parameter)?.[1]?.toLowerCase();
    if (charset !== undefined && charset !== "utf-8" && charset !== "utf8")
      throw new ServiceError("invalid_request", "the body must be UTF-8");
  }
}

async function readDecoded(
  request: IncomingMessage,
  response: ServerResponse,
  { gzip, bodyLimitBytes }: JsonLimits,
  memory: BodyMemory,
): Promise<Buffer> {
  if (!gzip) return readBytes(request, response, bodyLimitBytes, memory);
  checkLength(request, bodyLimitBytes);
  const coding = codingOf(request);
  if (coding === "identity") return receive(request, response, bodyLimitBytes, memory);
  if (coding !== "gzip" && coding !== "x-gzip")
    throw new ServiceError("invalid_request", "a body may be compressed with gzip only");
  const compressed = await receive(request, response, bodyLimitBytes, memory);
  return inflate(compressed, bodyLimitBytes, memory);
}

function checkLength({ headers }: IncomingMessage, limitBytes: number): void {
  if (Number(headers["content-length"] ?? 0) > limitBytes) throw tooLarge(limitBytes);
}

function codingOf({ headers }: IncomingMessage): string {
  return headers["content-encoding"]?.trim().toLowerCase() || "identity";
}

/** Reads the bytes as they are sent. */
function receive(
  request: IncomingMessage,
  response: ServerResponse,
  limitBytes: number,
  memory: BodyMemory,
): Promise<Buffer> {
  if (request.headers.expect?.toLowerCase() === "100-continue" && !request.destroyed) response.writeContinue();
  return new Promise<Buffer>((resolve, reject) => {
    const gather = createGather();
    let chunks = 0;
    const fail = (error: Error): void => {
      request.removeListener("data", take);
      request.pause();
      reject(error);
    };
    const take = (chunk: Buffer): void => {
      const over = memory.take(chunk.length);
      gather.add(chunk);
      if (gather.length > limitBytes) fail(tooLarge(limitBytes));
      else if (++chunks > freeChunks && (chunks - freeChunks) * meanChunkBytes > gather.length)
        fail(memory.tooManyChunks());
      else if (over !== undefined) fail(over);
    };
    request.on("data", take);
    request.on("end", () => resolve(gather.bytes()));
    request.on("error", () => fail(new RequestAborted()));
    // Closed before these listeners were added: no event follows.
    if (request.destroyed) fail(new RequestAborted());
  });
}

/** Only once all of it has arrived: each write costs zlib as much as many bytes. */
function inflate(bytes: Buffer, limitBytes: number, memory: BodyMemory): Promise<Buffer> {
  const gunzip = createGunzip();
  return new Promise<Buffer>((resolve, reject) => {
    const gather = createGather();
    const fail = (error: Error): void => {
      gunzip.destroy();
      reject(error);
    };
    gunzip.on("data", (chunk: Buffer) => {
      const over = memory.take(chunk.length);
      gather.add(chunk);
      if (gather.length > limitBytes) fail(tooLarge(limitBytes));
      else if (gather.length > freeBytes && gather.length > mostExpansion * bytes.length)
        fail(new ServiceError("payload_too_large", `the body expands to more than ${mostExpansion} times its size`));
      else if (over !== undefined) fail(over);
    });
    gunzip.on("end", () => {
      memory.give(bytes.length);
      resolve(gather.bytes());
    });
    gunzip.on("error", () => fail(new ServiceError("invalid_request", "the body is not valid gzip")));
    gunzip.end(bytes);
  });
}

function tooLarge(limitBytes: number): ServiceError {
  return new ServiceError("payload_too_large", `the body must not be longer than ${limitBytes} bytes`);
}
