import type { IncomingMessage } from "node:http";
import { WebSocket } from "ws";
import { CaseFailure } from "./failure.ts";

/** An open WebSocket with everything that was received. */
export interface Socket {
  /** The selected subprotocol; empty for none. */
  readonly protocol: string;
  /** JSON, or other text, the oldest first. */
  readonly messages: readonly unknown[];
  readonly pings: number;
  /** How it was closed; 1006 without a close frame. */
  readonly end: { code: number; reason: string } | undefined;
  say(message: string | Buffer): void;
  /** Resolves with the value of `found` once there is one; undefined after `seconds`. */
  waitFor<Found>(seconds: number, found: () => Found | undefined): Promise<Found | undefined>;
  /** Closes it like a client. */
  close(): void;
  /** Cuts it. */
  terminate(): void;
}

export interface SocketRequest {
  address: string;
  protocols: string[];
  headers: Record<string, string>;
  /** Whether pings are answered. */
  pongs: boolean;
}

/** The response to an upgrade: 101 with a socket, any other with a body. */
export interface UpgradeAnswer {
  status: number;
  headers: Headers;
  text: string;
  socket?: Socket;
}

const handshakeMilliseconds = 30_000;

/** Requests an upgrade. Throws a CaseFailure for a malformed response. */
export async function openSocket({ address, protocols, headers, pongs }: SocketRequest): Promise<UpgradeAnswer> {
  const client = new WebSocket(address, protocols, {
    headers,
    autoPong: pongs,
    perMessageDeflate: false,
    handshakeTimeout: handshakeMilliseconds,
  });
  // Listens at once: messages may come with the response itself.
  const socket = socketOf(client);
  const { promise, resolve, reject } = Promise.withResolvers<UpgradeAnswer>();
  let upgraded: IncomingMessage | undefined;
  client.once("upgrade", (response) => (upgraded = response));
  client.once("open", () => resolve({ status: 101, headers: headersOf(upgraded), text: "", socket }));
  client.once("unexpected-response", (_request, response) => {
    textOf(response)
      .then((text) => resolve({ status: response.statusCode ?? 0, headers: headersOf(response), text }), reject)
      .finally(() => client.terminate());
  });
  client.on("error", (error) => reject(new CaseFailure(`no WebSocket was opened: ${error.message}`)));
  return promise;
}

function socketOf(client: WebSocket): Socket {
  const messages: unknown[] = [];
  let pings = 0;
  let end: Socket["end"];
  let waiting: (() => void)[] = [];
  const wake = (): void => {
    const woken = waiting;
    waiting = [];
    for (const each of woken) each();
  };
  client.on("message", (data: Buffer) => {
    messages.push(jsonOr(data.toString("utf8")));
    wake();
  });
  client.on("ping", () => {
    pings += 1;
    wake();
  });
  client.on("close", (code, reason) => {
    end = { code, reason: reason.toString("utf8") };
    wake();
  });
  const change = (milliseconds: number): Promise<void> =>
    new Promise((resolve) => {
      const timer = setTimeout(resolve, milliseconds);
      waiting.push(() => {
        clearTimeout(timer);
        resolve();
      });
    });

  return {
    get protocol() {
      return client.protocol;
    },
    messages,
    get pings() {
      return pings;
    },
    get end() {
      return end;
    },
    say: (message) => client.send(message, { binary: typeof message !== "string" }),
    async waitFor(seconds, found) {
      const deadline = performance.now() + seconds * 1000;
      for (;;) {
        const value = found();
        const left = deadline - performance.now();
        if (value !== undefined || left <= 0) return value;
        await change(left);
      }
    },
    close: () => client.close(1000),
    terminate: () => client.terminate(),
  };
}

function jsonOr(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return text;
  }
}

async function textOf(response: IncomingMessage): Promise<string> {
  let text = "";
  for await (const chunk of response.setEncoding("utf8")) text += String(chunk);
  return text;
}

function headersOf(response: IncomingMessage | undefined): Headers {
  const headers = new Headers();
  for (const [name, value] of Object.entries(response?.headers ?? {}))
    for (const each of [value ?? []].flat()) headers.append(name, each);
  return headers;
}
