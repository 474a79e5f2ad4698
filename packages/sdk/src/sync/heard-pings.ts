import type { WebSocketLike } from "./connection.ts";

interface Channel {
  subscribe(listener: (message: unknown) => void): void;
  unsubscribe(listener: (message: unknown) => void): void;
}
interface Builtins {
  getBuiltinModule?(name: string): { channel(name: string): Channel } | undefined;
}

/**
 * Calls `heard` at each ping of the service on a socket, until the returned function is called. Undefined where pings
 * cannot be seen, as in browsers. They are answered by the platform either way.
 */
export function hearPings(socket: WebSocketLike, heard: () => void): (() => void) | undefined {
  // Node tells of pings on a diagnostics channel only; an import of it would keep this package out of browsers.
  const node = (globalThis as { process?: Builtins }).process?.getBuiltinModule?.("node:diagnostics_channel");
  if (node === undefined) return undefined;
  const channel = node.channel("undici:websocket:ping");
  const listener = (message: unknown): void => {
    if ((message as { websocket?: unknown }).websocket === socket) heard();
  };
  channel.subscribe(listener);
  return () => channel.unsubscribe(listener);
}
