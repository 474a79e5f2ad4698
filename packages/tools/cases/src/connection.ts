import { setTimeout as sleep } from "node:timers/promises";
import { openSocket, type Socket, type SocketRequest } from "./socket.ts";

/** One request as it is sent. */
export interface HttpRequest {
  method: string;
  path: string;
  headers: Record<string, string>;
  body?: string | undefined;
  /** The source address to forward, if the runner is a trusted proxy. */
  address?: string | undefined;
}

export interface HttpAnswer {
  status: number;
  headers: Headers;
  text: string;
  /** The parsed JSON body; undefined for other bodies. */
  json: unknown;
}

/** A request for a WebSocket. */
export interface UpgradeRequest extends Omit<SocketRequest, "address"> {
  path: string;
  address?: string | undefined;
}

/** The runner's way to the installation. */
export interface Connection {
  readonly url: string;
  /** Whether source addresses can be chosen. */
  readonly forwarded: boolean;
  /** Sends once. */
  send(request: HttpRequest): Promise<HttpAnswer>;
  /**
   * Repeats the request after the `Retry-After` of a 429, or of a 503, with which an overloaded
   * installation postpones it.
   */
  sendPatiently(request: HttpRequest): Promise<HttpAnswer>;
  /** Requests a WebSocket with such retries; the response has the open socket. */
  openPatiently(request: UpgradeRequest): Promise<HttpAnswer & { socket?: Socket | undefined }>;
  /** A new source address; undefined if addresses cannot be chosen. */
  newAddress(): string | undefined;
  /** Waits until the limiter has forgotten every request from the runner's own address. */
  quiet(): Promise<void>;
}

const windowMilliseconds = 60_000;
const mostWaits = 5;

export interface ConnectionOptions {
  url: string;
  forwarded: boolean;
  /** Called before each wait, with the status that caused it. */
  onWait?: (seconds: number, status: number) => void;
}

/** Connects to the installation at `url` (without a trailing slash). Errors name the address. */
export function connect({ url, forwarded, onWait }: ConnectionOptions): Connection {
  // The range for measurements (RFC 2544). Another start each time: an earlier run may be remembered.
  let next = Math.floor(Math.random() * 0x20000);
  let lastDirect = Number.NEGATIVE_INFINITY;

  const send = async ({ method, path, headers, body, address }: HttpRequest): Promise<HttpAnswer> => {
    if (address === undefined) lastDirect = performance.now();
    try {
      const response = await fetch(url + path, {
        method,
        // A case may name its own address.
        headers: { ...comingFrom(address), ...headers },
        redirect: "manual",
        signal: AbortSignal.timeout(30_000),
        ...(body === undefined ? {} : { body }),
      });
      const text = await response.text();
      return { status: response.status, headers: response.headers, text, json: jsonOf(text) };
    } catch (cause) {
      throw new Error(`${url} does not answer`, { cause });
    }
  };

  const open: Connection["openPatiently"] = async ({ path, headers, address, ...request }) => {
    if (address === undefined) lastDirect = performance.now();
    const answer = await openSocket({
      ...request,
      address: url.replace(/^http/, "ws") + path,
      headers: { ...comingFrom(address), ...headers },
    });
    return { ...answer, json: jsonOf(answer.text) };
  };

  async function patiently<Answer extends HttpAnswer>(attempt: () => Promise<Answer>): Promise<Answer> {
    for (let waits = 0; ; waits += 1) {
      const answer = await attempt();
      const seconds = Number(answer.headers.get("retry-after"));
      const isPutOff = answer.status === 429 || answer.status === 503;
      if (!isPutOff || waits === mostWaits || !(seconds > 0)) return answer;
      onWait?.(seconds, answer.status);
      await sleep(seconds * 1000);
    }
  }

  return {
    url,
    forwarded,
    send,
    sendPatiently: (request) => patiently(() => send(request)),
    openPatiently: (request) => patiently(() => open(request)),
    newAddress() {
      if (!forwarded) return undefined;
      next = (next + 1) % 0x20000;
      return `198.${18 + (next >> 16)}.${(next >> 8) & 255}.${next & 255}`;
    },
    async quiet() {
      const left = lastDirect + windowMilliseconds + 1000 - performance.now();
      if (left <= 0) return;
      onWait?.(Math.ceil(left / 1000), 429);
      await sleep(left);
    },
  };
}

function comingFrom(address: string | undefined): Record<string, string> {
  return address === undefined ? {} : { "x-forwarded-for": address };
}

function jsonOf(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
