import type { WebSocketConstructor } from "@coffer/sdk";

/** The connections of a device in order, each with its received messages. */
export interface Wire {
  readonly webSocket: WebSocketConstructor;
  readonly connections: readonly (readonly Record<string, unknown>[])[];
}

/** A WebSocket for a device that records every message of the service: the SDK hides them. */
export function newWire(): Wire {
  const connections: Record<string, unknown>[][] = [];
  class WatchedSocket extends WebSocket {
    constructor(url: string, protocols: string[]) {
      super(url, protocols);
      const messages: Record<string, unknown>[] = [];
      connections.push(messages);
      this.addEventListener("message", ({ data }) => {
        messages.push(JSON.parse(String(data)) as Record<string, unknown>); // every message is an object
      });
    }
  }
  return { webSocket: WatchedSocket, connections };
}
