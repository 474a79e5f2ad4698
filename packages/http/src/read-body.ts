import { isUtf8 } from "node:buffer";
import type { IncomingMessage, ServerResponse } from "node:http";
import type { Readable } from "node:stream";
import { createGunzip, Gunzip } from "node:zlib";
import { ServiceError } from "@coffer/errors";
import { checkStructure } from "./check-structure.ts";
import type { Route } from "./route.ts";

/** The caller disconnected before its body was complete. */
export class RequestAborted extends Error {
  constructor() {
    super("the request ended before its body");
    this.name = "RequestAborted";
  }
}

/** The JSON limits of a route. */
type JsonLimits = Pick<Route<never>, "bodyLimitBytes" | "gzip" | "tokensPerKibibyte">;

const empty = Buffer.alloc(0);
/** Largest expansion of a compressed body. Honest JSON with base64 reaches about 10. */
const mostExpansion = 20;
/** Inflated bytes without a ratio check. */
const freeBytes = 16 * 1024;

/**
 * Reads a raw body of at most `limitBytes`.
 * @throws ServiceError `payload_too_large`, `invalid_request` for a content coding; RequestAborted
 */
export async function readBytes(
  request: IncomingMessage,
  response: ServerResponse,
  limitBytes: number,
): Promise<Buffer> {
  return collect(request, response, uncoded, limitBytes);
}

/**
 * Reads a JSON body within `limits`, counted after decompression. Checks the structure before
 * parsing.
 * @throws ServiceError `payload_too_large`; `invalid_request` for another type, charset or coding,
 *   invalid UTF-8 or JSON; RequestAborted
 */
export async function readJson(
  request: IncomingMessage,
  response: ServerResponse,
  limits: JsonLimits,
): Promise<unknown> {
  if (!hasBody(request)) throw new ServiceError("invalid_request", "a JSON body is required");
  checkType(request.headers["content-type"]);
  const bytes = await collect(request, response, limits.gzip ? decoded : uncoded, limits.bodyLimitBytes);
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

function uncoded(request: IncomingMessage): Readable {
  const coding = request.headers["content-encoding"]?.trim().toLowerCase() ?? "";
  if (coding === "" || coding === "identity") return request;
  throw new ServiceError("invalid_request", "the body must come without Content-Encoding");
}

function decoded(request: IncomingMessage): Readable {
  const coding = request.headers["content-encoding"]?.trim().toLowerCase() ?? "";
  if (coding === "" || coding === "identity") return request;
  if (coding === "gzip" || coding === "x-gzip") return request.pipe(createGunzip());
  throw new ServiceError("invalid_request", "a body may be compressed with gzip only");
}

function collect(
  request: IncomingMessage,
  response: ServerResponse,
  decode: (request: IncomingMessage) => Readable,
  limitBytes: number,
): Promise<Buffer> {
  const announced = Number(request.headers["content-length"] ?? 0);
  if (announced > limitBytes) return Promise.reject(tooLarge(limitBytes));
  // Created where its errors have a listener: an unhandled one would end the process.
  const source = decode(request);
  if (request.headers.expect?.toLowerCase() === "100-continue" && !request.destroyed) response.writeContinue();
  return new Promise<Buffer>((resolve, reject) => {
    let chunks: Buffer[] | undefined;
    let first: Buffer = empty;
    let length = 0;
    const fail = (error: Error): void => {
      source.removeListener("data", take);
      request.unpipe();
      request.pause();
      if (source !== request) source.destroy();
      reject(error);
    };
    const take = (chunk: Buffer): void => {
      length += chunk.length;
      if (length > limitBytes) {
        fail(tooLarge(limitBytes));
        return;
      }
      if (source instanceof Gunzip && length > freeBytes && length > mostExpansion * source.bytesWritten) {
        fail(new ServiceError("payload_too_large", `the body expands to more than ${mostExpansion} times its size`));
        return;
      }
      if (first.length === 0) first = chunk;
      else (chunks ??= [first]).push(chunk);
    };
    source.on("data", take);
    source.on("end", () => resolve(chunks === undefined ? first : Buffer.concat(chunks, length)));
    request.on("error", () => fail(new RequestAborted()));
    if (source !== request)
      source.on("error", () => fail(new ServiceError("invalid_request", "the body is not valid gzip")));
    // Closed before these listeners were added: no event follows.
    if (request.destroyed) fail(new RequestAborted());
  });
}

function tooLarge(limitBytes: number): ServiceError {
  return new ServiceError("payload_too_large", `the body must not be longer than ${limitBytes} bytes`);
}
