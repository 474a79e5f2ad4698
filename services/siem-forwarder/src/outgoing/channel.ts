import { once } from "node:events";
import http from "node:http";
import https from "node:https";
import net from "node:net";
import type { Duplex } from "node:stream";
import tls from "node:tls";
import type { Destinations } from "./destination.ts";
import { AddressRefused, allowedAddresses } from "./destination.ts";
import { failureOf } from "./request-failure.ts";

/** How long a request may take, from its connection to the end of its answer. */
const requestMilliseconds = 15_000;
/** So much of an answer is read. */
const mostAnswerBytes = 64 * 1024;
/** Receivers close idle connections after 5 s and more. */
const idleMilliseconds = 4_000;

export interface Answer {
  status: number;
  headers: http.IncomingHttpHeaders;
  /** At most 64 KiB. */
  body: string;
  /** The answer was longer. */
  isCut: boolean;
}

/** One request to a SIEM endpoint, or to its login service. */
export interface OutgoingRequest {
  url: string;
  headers: Readonly<Record<string, string>>;
  body: string | Buffer;
}

/** Sends requests to one endpoint, over its own connections. */
export interface Channel {
  /**
   * Posts and returns the response, with any status. Does not follow redirects. Throws
   * RequestFailure.
   */
  post(request: OutgoingRequest): Promise<Answer>;
  /** Cuts the connections and running requests. */
  close(): void;
}

export interface ChannelOptions {
  destinations: Destinations;
  /** Default: 15 s. */
  timeoutMilliseconds?: number | undefined;
}

/**
 * Every connection goes to an address that was resolved and checked for it. The address is checked
 * again when the connection is established. The proxy variables of the environment are not used.
 */
export function createChannel({ destinations, timeoutMilliseconds = requestMilliseconds }: ChannelOptions): Channel {
  const closing = new AbortController();
  const options = { keepAlive: true, maxSockets: 2, timeout: idleMilliseconds };
  const agents = { "http:": new http.Agent(options), "https:": new https.Agent(options) };

  const attempt = async (
    { url, headers, body }: OutgoingRequest,
    signal: AbortSignal,
  ): Promise<Answer | "stale connection"> => {
    const target = new URL(url);
    const isPlain = target.protocol === "http:";
    const agent = agents[isPlain ? "http:" : "https:"];
    agent.createConnection = (_: object, callback?: (error: Error | null, stream: Duplex) => void) => {
      void openConnection(destinations, target, signal).then(
        (socket) => callback?.(null, socket),
        (error: unknown) => callback?.(error as Error, undefined as unknown as Duplex), // Node's own convention
      );
      return undefined;
    };
    const bytes = typeof body === "string" ? Buffer.from(body) : body;
    const request = (isPlain ? http : https).request(target, {
      method: "POST",
      agent,
      signal,
      headers: { "user-agent": "coffer-siem-forwarder", ...headers, "content-length": bytes.length },
    });
    try {
      request.end(bytes);
      const [response] = (await once(request, "response", { signal })) as [http.IncomingMessage]; // as Node documents the event
      request.on("error", () => undefined);
      return await read(response);
    } catch (error) {
      request.on("error", () => undefined);
      request.destroy();
      const { code } = error as NodeJS.ErrnoException; // what Node throws here; nothing has a code of another meaning
      if (request.reusedSocket && code === "ECONNRESET") return "stale connection";
      throw error;
    }
  };

  return {
    async post(request) {
      const signal = AbortSignal.any([closing.signal, AbortSignal.timeout(timeoutMilliseconds)]);
      try {
        for (;;) {
          const answer = await attempt(request, signal);
          // The receiver has closed an idle connection at this moment: the next one is fresh, or
          // ends the loop.
          if (answer !== "stale connection") return answer;
        }
      } catch (error) {
        throw failureOf(error, { timedOut: signal.aborted && !closing.signal.aborted });
      }
    },
    close() {
      closing.abort();
      for (const agent of Object.values(agents)) agent.destroy();
    },
  };
}

/** A connection to an allowed address of the URL's host, with TLS for https. */
async function openConnection(destinations: Destinations, url: URL, signal: AbortSignal): Promise<net.Socket> {
  const host = url.hostname.replace(/^\[(.*)\]$/, "$1");
  const isPlain = url.protocol === "http:";
  const addresses = await allowedAddresses(destinations, url);
  let failure: unknown;
  for (const address of addresses) {
    const socket = net.connect({ host: address, port: Number(url.port) || (isPlain ? 80 : 443), noDelay: true });
    try {
      await once(socket, "connect", { signal });
      if (!destinations.networks.allows(socket.remoteAddress ?? "", isPlain ? "http:" : "https:"))
        throw new AddressRefused(host);
      if (isPlain) return socket;
      const secure = tls.connect({ socket, ...(net.isIP(host) === 0 ? { servername: host } : { host }) });
      await once(secure, "secureConnect", { signal });
      return secure;
    } catch (error) {
      socket.on("error", () => undefined).destroy();
      if (signal.aborted) throw error;
      failure = error;
    }
  }
  throw failure;
}

async function read(response: http.IncomingMessage): Promise<Answer> {
  const chunks: Buffer[] = [];
  let bytes = 0;
  let isCut = false;
  for await (const chunk of response as AsyncIterable<Buffer>) {
    // no encoding is set
    const room = mostAnswerBytes - bytes;
    isCut = chunk.length > room;
    chunks.push(chunk.subarray(0, room));
    bytes += chunk.length;
    // Ends the connection too: the rest of the answer would have to be read first.
    if (isCut) break;
  }
  return {
    status: response.statusCode ?? 0,
    headers: response.headers,
    body: Buffer.concat(chunks).toString("utf8"),
    isCut,
  };
}
