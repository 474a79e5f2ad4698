import { once } from "node:events";
import http from "node:http";
import type { IncomingHttpHeaders, IncomingMessage, ServerResponse } from "node:http";
import https from "node:https";
import type { AddressInfo } from "node:net";
import type { TestCertificate, TestScope } from "@coffer/testkit";

/** A request as a receiver sees it. */
export interface Received {
  method: string;
  path: string;
  query: URLSearchParams;
  headers: IncomingHttpHeaders;
  body: Buffer;
}

export interface Reply {
  status: number;
  headers?: Record<string, string>;
  body?: unknown;
}

/** A receiver of events, as strict as the real one. */
export interface Receiver {
  url: string;
  /** The events that it has taken, in order, repeated ones too. */
  taken: unknown[];
  /** All requests, refused ones too. */
  requests: Received[];
  /** Answers instead of the receiver, as long as it has an answer. */
  interfere: ((request: Received) => Reply | null | Promise<Reply | null>) | null;
  stop(): Promise<void>;
}

export interface Listening {
  /** Default: a free one. */
  port?: number;
  /** Listens for https with this certificate of `localhost`. */
  tls?: TestCertificate;
}

/** Listens on loopback and answers by `judge`. */
export async function startReceiver(
  t: TestScope,
  judge: (request: Received, taken: unknown[]) => Reply,
  { port = 0, tls }: Listening = {},
): Promise<Receiver> {
  const receiver: Receiver = { url: "", taken: [], requests: [], interfere: null, stop: () => Promise.resolve() };
  const answer = async (request: IncomingMessage, response: ServerResponse): Promise<void> => {
    const chunks: Buffer[] = [];
    for await (const chunk of request as AsyncIterable<Buffer>) chunks.push(chunk);
    const { pathname, searchParams } = new URL(request.url ?? "", "http://receiver");
    const received: Received = {
      method: request.method ?? "",
      path: pathname,
      query: searchParams,
      headers: request.headers,
      body: Buffer.concat(chunks),
    };
    receiver.requests.push(received);
    const reply = (await receiver.interfere?.(received)) ?? judge(received, receiver.taken);
    const { status, headers = {}, body } = reply;
    response.writeHead(status, { "content-type": "application/json", ...headers });
    response.end(body === undefined ? undefined : typeof body === "string" ? body : JSON.stringify(body));
  };
  const listener: http.RequestListener = (request, response) => {
    answer(request, response).catch(() => response.destroy());
  };
  const server = tls === undefined ? http.createServer(listener) : https.createServer(tls, listener);
  server.listen(port, "127.0.0.1");
  await once(server, "listening");
  const origin = tls === undefined ? "http://127.0.0.1" : "https://localhost";
  receiver.url = `${origin}:${(server.address() as AddressInfo).port}`; // a TCP port, not a pipe
  receiver.stop = async () => {
    if (!server.listening) return;
    server.close();
    server.closeAllConnections();
    await once(server, "close");
  };
  t.teardown(() => receiver.stop());
  return receiver;
}
