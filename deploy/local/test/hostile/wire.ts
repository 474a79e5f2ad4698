import { createServer } from "node:http";
import { type AddressInfo, connect, type Socket } from "node:net";
import { buffer } from "node:stream/consumers";
import type { WebSocketConstructor, WebSocketLike } from "@coffer/sdk";
import type { TestScope } from "@coffer/testkit";

/** A request of a client. */
export interface Request {
  /** The client. */
  from: string;
  method: string;
  /** Without the query. */
  path: string;
  query: string;
  /** The JSON of the body; undefined without one. */
  body: unknown;
}

/** The response to a client. */
export interface Answer {
  status: number;
  /** The JSON of the answer; undefined for an empty one. */
  body: unknown;
}

export interface Exchange extends Request {
  answer: Answer;
  /** Whether the client may be deceived. */
  attacked: boolean;
}

/** Decides the response. */
export type Lie = (exchange: Exchange) => Answer | Promise<Answer>;

/** The operator's position: between the clients and the services, where it can change each response. */
export interface Wire {
  /** The address that clients use. */
  readonly url: string;
  /** Where the services are. */
  readonly target: string;
  /** The network of a client in this process. */
  network(from: string, lie?: Lie): typeof fetch;
  /** The connections of a client in this process; each message of the service is an answer. */
  sockets(from: string, lie?: Lie): WebSocketConstructor;
  /** All exchanges, with the true responses. */
  readonly exchanges: Exchange[];
  /** Sees each request before it reaches the services. */
  onRequest: (request: Request) => void;
  /** Sees each answer as the client gets it. */
  onAnswer: (body: unknown) => void;
}

/** The kind of a request: its method and path, without ids. */
export function kindOf({ method, path }: Pick<Request, "method" | "path">): string {
  const parts = path.split("/").map((part) => (/^[0-9a-f]{8}-[0-9a-f-]{27}$|^[\w-]{22}$/.test(part) ? "{id}" : part));
  return `${method} ${parts.join("/")}`;
}

/** A position between clients at `url`, and services at `target`. */
export function createWire(url: string, target = url): Wire {
  const wire: Wire = {
    url,
    target,
    exchanges: [],
    onRequest: () => undefined,
    onAnswer: () => undefined,
    network: (from, lie) => {
      return async (input, init = {}) => {
        const target = new URL(input instanceof globalThis.Request ? input.url : input);
        const body = typeof init.body === "string" ? init.body : "";
        return forward(wire, { from, target, init, body }, lie);
      };
    },
    sockets: (from, lie) => lyingSockets(wire, from, lie),
  };
  return wire;
}

interface Forwarded {
  from: string;
  target: URL;
  init: RequestInit;
  body: string;
}

async function forward(wire: Wire, { from, target, init, body }: Forwarded, lie: Lie | undefined): Promise<Response> {
  const { pathname: path, search: query } = target;
  const request = { from, method: init.method ?? "GET", path, query, body: jsonOf(body) };
  wire.onRequest(request);
  const truth = await fetch(new URL(path + query, wire.target), init);
  const exchange = {
    ...request,
    attacked: lie !== undefined,
    answer: { status: truth.status, body: jsonOf(await truth.text()) },
  };
  wire.exchanges.push(exchange);
  const { status, body: answered } = lie === undefined ? exchange.answer : await lie(structuredClone(exchange));
  wire.onAnswer(answered);
  const headers = new Headers(truth.headers);
  for (const name of ["content-length", "content-encoding", "transfer-encoding", "connection"]) headers.delete(name);
  if ([204, 205, 304].includes(status)) return new Response(null, { status, headers });
  headers.set("content-type", "application/json");
  return new Response(answered === undefined ? "" : JSON.stringify(answered), { status, headers });
}

function lyingSockets(wire: Wire, from: string, lie: Lie | undefined): WebSocketConstructor {
  return class implements WebSocketLike {
    private readonly inner: WebSocket;
    private order: Promise<unknown> = Promise.resolve();
    constructor(url: string, protocols: string[]) {
      this.inner = new WebSocket(url, protocols);
    }
    send(text: string): void {
      wire.onRequest({ from, method: "SYNC", path: "/api/sync/ws", query: "", body: jsonOf(text) });
      this.inner.send(text);
    }
    close(code?: number): void {
      this.inner.close(code);
    }
    addEventListener(type: "open" | "error" | "message" | "close", listener: (event: never) => void): void {
      if (type !== "message") {
        // The listener is for the event of its own type.
        this.inner.addEventListener(type, listener as unknown as (event: Event) => void);
        return;
      }
      this.inner.addEventListener("message", ({ data }) => {
        const body = jsonOf(String(data));
        const path = `/api/sync/ws/${String((body as { type?: unknown }).type)}`;
        const answer = { status: 200, body };
        const exchange = {
          from,
          method: "SYNC",
          path,
          query: "",
          body: undefined,
          attacked: lie !== undefined,
          answer,
        };
        wire.exchanges.push(exchange);
        this.order = this.order.then(async () => {
          const said = lie === undefined ? answer : await lie(structuredClone(exchange));
          (listener as (event: { data: unknown }) => void)({ data: JSON.stringify(said.body) });
        });
      });
    }
  };
}

/** A server at its own address for clients in other processes. */
export interface HostileServer {
  readonly url: string;
  /** The true services; set once they are there. */
  wire: Wire | undefined;
  /** The name for recorded exchanges. */
  from: string;
  lie: Lie | undefined;
}

/** Starts it on a free port. */
export async function startHostileServer(t: TestScope): Promise<HostileServer> {
  const hostile: { -readonly [Name in keyof HostileServer]: HostileServer[Name] } = {
    url: "",
    wire: undefined,
    from: "nobody",
    lie: undefined,
  };
  const server = createServer((incoming, response) => {
    const { method = "GET", url = "/", headers } = incoming;
    const answer = async (): Promise<void> => {
      const body = (await buffer(incoming)).toString();
      const { wire, from, lie } = hostile;
      if (wire === undefined) throw new Error("the services are not known yet");
      const passed = Object.entries(headers).filter(
        ([name]) => !["host", "connection", "content-length", "accept-encoding"].includes(name),
      ) as [string, string][];
      const init = { method, headers: passed, ...(body === "" ? {} : { body }) };
      const got = await forward(wire, { from, target: new URL(url, wire.url), init, body }, lie);
      response.writeHead(got.status, Object.fromEntries(got.headers)).end(Buffer.from(await got.arrayBuffer()));
    };
    answer().catch(() => response.destroy());
  });
  const live = new Set<Socket>();
  server.on("upgrade", (incoming, socket: Socket, head) => {
    // Live sync is passed on unchanged; keys come by requests.
    const { hostname, port } = new URL(hostile.wire?.target ?? "");
    const inner = connect(Number(port), hostname);
    for (const each of [socket, inner]) live.add(each.on("error", () => each.destroy()));
    const lines = [`${incoming.method ?? "GET"} ${incoming.url ?? "/"} HTTP/1.1`];
    for (let at = 0; at + 1 < incoming.rawHeaders.length; at += 2)
      lines.push(`${incoming.rawHeaders[at] ?? ""}: ${incoming.rawHeaders[at + 1] ?? ""}`);
    inner.write(`${lines.join("\r\n")}\r\n\r\n`);
    inner.write(head);
    inner.pipe(socket).pipe(inner);
  });
  await new Promise<void>((listening) => server.listen(0, "127.0.0.1", listening));
  t.teardown(() => {
    for (const each of live) each.destroy();
    server.closeAllConnections();
    return new Promise((closed) => server.close(closed));
  });
  hostile.url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  return hostile;
}

function jsonOf(text: string): unknown {
  if (text === "") return undefined;
  try {
    return JSON.parse(text);
  } catch {
    return text;
  }
}
