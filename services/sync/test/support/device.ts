import { once } from "node:events";
import { messageProblems } from "@coffer/openapi";
import { type TestScope, until } from "@coffer/testkit";
import { type ClientOptions, WebSocket } from "ws";

export interface Message {
  type: string;
  action?: string;
  record_id?: string | null;
  vault_id?: string | null;
  updated_at?: string | null;
  changes?: { id: string; encrypted_data: string }[];
  deleted?: { id: string }[];
  server_time?: string;
  has_more?: boolean;
  reset?: boolean;
  [field: string]: unknown;
}

/** A connected device with all messages that it received. */
export interface Device {
  socket: WebSocket;
  messages: Message[];
  /** The pushes: action and record, vault or folder. */
  pushes(): Message[];
  send(message: object | string): void;
  /** Sends a sync_request and waits for the response; `next` skips earlier messages. */
  sync(request?: { last_sync?: string | null; limit?: number }): Promise<Message>;
  /** Resolves with the first message of this kind that was not returned yet, also an earlier one. */
  next(type: string): Promise<Message>;
  /** Resolves with the close code and reason. */
  closed(): Promise<{ code: number; reason: string }>;
}

export interface DeviceOptions {
  /** The token in the query. */
  token?: string;
  protocols?: string[];
  options?: ClientOptions;
}

/** Connects; rejects if the upgrade is refused. */
export async function connectDevice(
  t: TestScope,
  url: string,
  { token, protocols = [], options = {} }: DeviceOptions,
): Promise<Device> {
  const address = `${url.replace(/^http/, "ws")}/api/sync/ws${token === undefined ? "" : `?token=${token}`}`;
  const socket = new WebSocket(address, protocols, { perMessageDeflate: false, ...options });
  t.teardown(() => socket.terminate());
  const messages: Message[] = [];
  let end: { code: number; reason: string } | undefined;
  socket.on("error", () => undefined);
  socket.on("message", (data: Buffer) => {
    const message = JSON.parse(data.toString("utf8")) as Message; // the description checks its shape
    const problems = messageProblems("server", message);
    if (problems.length > 0) throw new Error(`not as docs/spec/sync describes it:\n${problems.join("\n")}`);
    messages.push(message);
  });
  socket.on("close", (code, reason) => {
    end = { code, reason: reason.toString("utf8") };
  });
  await once(socket, "open");
  const send = (message: object | string): void =>
    socket.send(typeof message === "string" ? message : JSON.stringify(message));
  const given = new Set<Message>();
  const next: Device["next"] = async (type) => {
    const isNext = (message: Message): boolean => message.type === type && !given.has(message);
    return until(`there is a ${type}`, () => {
      const found = messages.find(isNext);
      if (found !== undefined) given.add(found);
      return found;
    });
  };
  return {
    socket,
    messages,
    pushes: () => messages.filter(({ type }) => type === "push"),
    send,
    next,
    sync: (request = {}) => {
      for (const message of messages) given.add(message);
      send({ type: "sync_request", ...request });
      return next("sync_response");
    },
    closed: () => until("it is closed", () => end),
  };
}
