import { setTimeout as sleep } from "node:timers/promises";

/** One request as it goes out. */
export interface HttpRequest {
  method: string;
  path: string;
  headers: Record<string, string>;
  body?: string | undefined;
  /** The source address to be taken for, where the runner is a trusted proxy. */
  address?: string | undefined;
}

export interface HttpAnswer {
  status: number;
  headers: Headers;
  text: string;
  /** The body as JSON; undefined when it is none. */
  json: unknown;
}

/** How requests reach the installation. */
export interface Connection {
  readonly url: string;
  /** Whether source addresses can be chosen. */
  readonly forwarded: boolean;
  /** Sends once. */
  send(request: HttpRequest): Promise<HttpAnswer>;
  /** Sends, and when the limit is reached waits as long as the answer says and sends again. */
  sendPatiently(request: HttpRequest): Promise<HttpAnswer>;
  /** A source address that nobody has used yet; undefined where addresses cannot be chosen. */
  newAddress(): string | undefined;
  /** Waits until the limiter has forgotten every request that was sent from the runner's own address. */
  quiet(): Promise<void>;
}

const windowMilliseconds = 60_000;
const mostWaits = 5;

export interface ConnectionOptions {
  url: string;
  forwarded: boolean;
  /** Called before each wait. */
  onWait?: (seconds: number) => void;
}

/** Connects to the installation at `url` (no slash at the end). Its methods throw an Error that names the address. */
export function connect({ url, forwarded, onWait }: ConnectionOptions): Connection {
  // The range that is set aside for measurements (RFC 2544). Another start each time: an earlier run may be remembered.
  let next = Math.floor(Math.random() * 0x20000);
  let lastDirect = Number.NEGATIVE_INFINITY;

  const send = async ({ method, path, headers, body, address }: HttpRequest): Promise<HttpAnswer> => {
    if (address === undefined) lastDirect = performance.now();
    try {
      const response = await fetch(url + path, {
        method,
        // A case may name an address of its own.
        headers: { ...(address === undefined ? {} : { "x-forwarded-for": address }), ...headers },
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

  return {
    url,
    forwarded,
    send,
    async sendPatiently(request) {
      for (let waits = 0; ; waits += 1) {
        const answer = await send(request);
        const seconds = Number(answer.headers.get("retry-after"));
        if (answer.status !== 429 || waits === mostWaits || !(seconds > 0)) return answer;
        onWait?.(seconds);
        await sleep(seconds * 1000);
      }
    },
    newAddress() {
      if (!forwarded) return undefined;
      next = (next + 1) % 0x20000;
      return `198.${18 + (next >> 16)}.${(next >> 8) & 255}.${next & 255}`;
    },
    async quiet() {
      const left = lastDirect + windowMilliseconds + 1000 - performance.now();
      if (left <= 0) return;
      onWait?.(Math.ceil(left / 1000));
      await sleep(left);
    },
  };
}

function jsonOf(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
