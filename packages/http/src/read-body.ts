import { isUtf8 } from "node:buffer";
import type { IncomingMessage, ServerResponse } from "node:http";
import type { Readable } from "node:stream";
import { createGunzip } from "node:zlib";
import { ServiceError } from "@coffer/errors";

/** The caller went away before its body was complete: nobody is there to be answered. */
export class RequestAborted extends Error {
  constructor() {
    super("the request ended before its body");
    this.name = "RequestAborted";
  }
}

const empty = Buffer.alloc(0);

/**
 * Reads a body as it came, at most `limitBytes` of it. Stops at the first byte over the limit.
 * @throws ServiceError `payload_too_large`, `invalid_request` for a content coding that is not known; RequestAborted.
 */
export async function readBytes(
  request: IncomingMessage,
  response: ServerResponse,
  limitBytes: number,
): Promise<Buffer> {
  const coding = request.headers["content-encoding"];
  if (coding !== undefined && coding !== "identity" && coding !== "")
    throw new ServiceError("invalid_request", "the body must come without Content-Encoding");
  return collect(request, response, (body) => body, limitBytes);
}

/**
 * Reads a JSON body, at most `limitBytes` of it, counted after decompression (gzip is taken).
 * @throws ServiceError `payload_too_large`; `invalid_request` for another type, charset or coding, for bytes that are
 * not UTF-8 and for malformed JSON; RequestAborted.
 */
export async function readJson(
  request: IncomingMessage,
  response: ServerResponse,
  limitBytes: number,
): Promise<unknown> {
  if (!hasBody(request)) throw new ServiceError("invalid_request", "a JSON body is required");
  checkType(request.headers["content-type"]);
  const bytes = await collect(request, response, decoded, limitBytes);
  if (bytes.length === 0) throw new ServiceError("invalid_request", "a JSON body is required");
  if (!isUtf8(bytes)) throw new ServiceError("invalid_request", "the body is not UTF-8");
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
  // Made where its errors are listened to at once: one that nobody hears would end the process.
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
      if (first.length === 0) first = chunk;
      else (chunks ??= [first]).push(chunk);
    };
    source.on("data", take);
    source.on("end", () => resolve(chunks === undefined ? first : Buffer.concat(chunks, length)));
    request.on("error", () => fail(new RequestAborted()));
    if (source !== request)
      source.on("error", () => fail(new ServiceError("invalid_request", "the body is not valid gzip")));
    // Gone while nobody listened, as during the caller's identification: none of the events above comes any more.
    if (request.destroyed) fail(new RequestAborted());
  });
}

function tooLarge(limitBytes: number): ServiceError {
  return new ServiceError("payload_too_large", `the body must not be longer than ${limitBytes} bytes`);
}
