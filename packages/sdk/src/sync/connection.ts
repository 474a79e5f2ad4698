/** The used part of the platform's WebSocket. */
export interface WebSocketLike {
  send(text: string): void;
  close(code?: number): void;
  addEventListener(type: "open" | "error", listener: () => void): void;
  addEventListener(type: "message", listener: (event: { data: unknown }) => void): void;
  addEventListener(type: "close", listener: (event: { code: number }) => void): void;
}
export type WebSocketConstructor = new (url: string, protocols: string[]) => WebSocketLike;

/** Closed by this client: no response in time. */
export const deadLink = 4900;

export interface Connection {
  send(message: object): void;
  /** Ends the connection with this code at once. No further message is delivered. */
  end(code: number): void;
  isOver(): boolean;
  /** Resolves with the close code. */
  readonly closed: Promise<number>;
}

export interface ConnectionEvents {
  onOpen(): void;
  onMessage(data: unknown): void;
}

/** The limit of the handshake. */
const openMilliseconds = 20_000;

/**
 * Opens the sync channel at the service's address. The token is sent as a subprotocol, because URLs
 * may appear in logs. Never throws; a failure is a close with a code.
 */
export function connect(
  Socket: WebSocketConstructor,
  url: string,
  token: string,
  { onOpen, onMessage }: ConnectionEvents,
): Connection & { socket: WebSocketLike } {
  const socket = new Socket(`${url.replace(/^http/, "ws")}/api/sync/ws`, ["coffer.sync.v1", `bearer.${token}`]);
  let over = false;
  let finish: (code: number) => void = () => undefined;
  const closed = new Promise<number>((resolve) => {
    finish = (code) => {
      over = true;
      clearTimeout(timer);
      resolve(code);
    };
  });
  const end = (code: number): void => {
    if (over) return;
    finish(code);
    // A dead connection never answers the closing handshake, so do not wait for it.
    socket.close(1000);
  };
  const timer = setTimeout(() => end(deadLink), openMilliseconds);
  socket.addEventListener("open", () => {
    clearTimeout(timer);
    if (!over) onOpen();
  });
  socket.addEventListener("message", ({ data }) => {
    if (!over) onMessage(data);
  });
  // A close event follows.
  socket.addEventListener("error", () => undefined);
  socket.addEventListener("close", ({ code }) => finish(code));
  return {
    socket,
    closed,
    end,
    isOver: () => over,
    send: (message) => {
      if (!over) socket.send(JSON.stringify(message));
    },
  };
}
