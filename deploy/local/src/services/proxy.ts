import {
  Agent,
  type ClientRequest,
  type IncomingMessage,
  request as httpRequest,
  type ServerResponse,
} from "node:http";
import type { Duplex } from "node:stream";
import { ServiceError } from "@coffer/errors";
import { type AnswerLimits, endSocket, passOn, type Refusals, routerSecretHeader, sourceOf } from "@coffer/http";
import type { TrustedProxies } from "@coffer/ratelimit";
import type { Target } from "./front.ts";
import { notAnswering } from "../refuse.ts";

export interface ProxyOptions {
  /** The present address of the service; null while it is away. */
  address: () => { host: string; port: number } | null;
  trustedProxies: TrustedProxies;
  /** Proves to the service that this proxy set the source address. */
  secret: string;
  refusals: Refusals;
  /** For answers that wait for their readers. */
  answerLimits: AnswerLimits;
}

/** Between one hop and the next only (RFC 9110, 7.6.1); the new hop has its own. */
const hopHeaders = new Set(["connection", "keep-alive", "proxy-connection", "te", "transfer-encoding", "upgrade"]);
const lengthHeader = "content-length";
// Headers of framing, target and identity. Without its length a body would reach the service as a second
// request, past all checks: a Connection header cannot remove them.
const protectedHeaders = new Set([lengthHeader, "host", "authorization"]);
const ownHeaders = new Set(["x-forwarded-for", "forwarded", "x-real-ip", routerSecretHeader]);

/**
 * Passes requests on to a service in another process: streams bodies, responses and upgraded
 * connections. The service accepts the source address from here only. Without a service: 503.
 * Too many unread answers of the source address: 429.
 */
export function createProxy({ address, trustedProxies, secret, refusals, answerLimits }: ProxyOptions): Target {
  const agent = new Agent({ keepAlive: true });

  function open(incoming: IncomingMessage, ip: string, passed: string[]): ClientRequest | null {
    const where = address();
    if (where === null) return null;
    const headers = [...passed, "X-Forwarded-For", ip, routerSecretHeader, secret];
    return httpRequest({ ...where, agent, method: incoming.method ?? "GET", path: incoming.url ?? "/", headers });
  }

  /** The refusal of an address with too many unread answers. */
  function excessOf(ip: string): ServiceError | null {
    try {
      answerLimits.requireReader(ip);
      return null;
    } catch (error) {
      if (error instanceof ServiceError) return error;
      throw error;
    }
  }

  function request(incoming: IncomingMessage, response: ServerResponse): void {
    const ip = sourceOf(incoming, trustedProxies);
    const excess = incoming.method === "GET" ? excessOf(ip) : null;
    if (excess !== null) {
      refusals.request(incoming, response, excess);
      return;
    }
    const outgoing = open(incoming, ip, [...passedOn(incoming), ...framingOf(incoming)]);
    if (outgoing === null) {
      refusals.request(incoming, response, notAnswering());
      return;
    }
    outgoing.on("continue", () => response.writeContinue());
    outgoing.on("response", (answer) => {
      // Answered before the whole body arrived, and closing: the service reads no more, so this connection
      // ends with the response too.
      const early = !incoming.complete && answer.headers.connection === "close";
      if (early) {
        incoming.unpipe(outgoing);
        incoming.resume();
      }
      const closing = early ? ["Connection", "close"] : [];
      response.writeHead(answer.statusCode ?? 502, answer.statusMessage, [...passedOn(answer), ...closing]);
      passOn(answer, response, answerLimits.openAnswer(ip));
    });
    outgoing.on("error", () => {
      incoming.unpipe(outgoing);
      incoming.resume();
      if (!response.headersSent) refusals.request(incoming, response, notAnswering());
      else if (!response.writableEnded) response.destroy();
    });
    response.on("close", () => outgoing.destroy());
    incoming.pipe(outgoing);
  }

  function upgrade(incoming: IncomingMessage, socket: Duplex, head: Buffer): void {
    socket.on("error", () => socket.destroy());
    const change = ["Connection", "Upgrade", "Upgrade", incoming.headers.upgrade ?? ""];
    const ip = sourceOf(incoming, trustedProxies);
    const outgoing = open(incoming, ip, [...passedOn(incoming, lengthHeader), ...change]);
    if (outgoing === null) {
      refusals.upgrade(incoming, socket, notAnswering());
      return;
    }
    outgoing.on("upgrade", (answer, inner, innerHead) => {
      socket.write(headOf(answer, answer.rawHeaders));
      socket.write(innerHead);
      inner.write(head);
      inner.on("error", () => inner.destroy());
      inner.on("close", () => socket.destroy());
      socket.on("close", () => inner.destroy());
      inner.pipe(socket).pipe(inner);
    });
    outgoing.on("response", (answer) => {
      // Its body, which comes here without chunks, ends with the connection.
      socket.write(headOf(answer, [...passedOn(answer), "Connection", "close"]));
      answer.pipe(socket, { end: false });
      answer.on("close", () => endSocket(socket));
    });
    outgoing.on("error", () => refusals.upgrade(incoming, socket, notAnswering()));
    socket.on("close", () => outgoing.destroy());
    outgoing.end();
  }

  return { request, upgrade };
}

/** The headers for the next hop, as a flat list of names and values. */
function passedOn({ rawHeaders, headers }: IncomingMessage, except?: string): string[] {
  const named = (headers.connection ?? "").split(",").map((name) => name.trim().toLowerCase());
  const list: string[] = [];
  for (let at = 0; at + 1 < rawHeaders.length; at += 2) {
    const name = (rawHeaders[at] ?? "").toLowerCase();
    if (hopHeaders.has(name) || ownHeaders.has(name) || name === except) continue;
    if (named.includes(name) && !protectedHeaders.has(name)) continue;
    list.push(rawHeaders[at] ?? "", rawHeaders[at + 1] ?? "");
  }
  return list;
}

/** The framing of the body for the next hop: chunks, a length, or none. */
function framingOf({ headers, method }: IncomingMessage): string[] {
  if (headers["transfer-encoding"] !== undefined) return ["Transfer-Encoding", "chunked"];
  const mayHaveBody = method !== "GET" && method !== "HEAD" && method !== "OPTIONS" && method !== "DELETE";
  return headers["content-length"] === undefined && mayHaveBody ? ["Content-Length", "0"] : [];
}

function headOf({ statusCode = 502, statusMessage = "" }: IncomingMessage, headers: readonly string[]): string {
  const lines = [`HTTP/1.1 ${statusCode} ${statusMessage}`];
  for (let at = 0; at + 1 < headers.length; at += 2) lines.push(`${headers[at] ?? ""}: ${headers[at + 1] ?? ""}`);
  return `${lines.join("\r\n")}\r\n\r\n`;
}
