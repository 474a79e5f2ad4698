import type { WebSocketLike } from "./connection.ts";

interface Channel {
  subscribe(listener: (message: unknown) => void): void;
  unsubscribe(listener: (message: unknown) => void): void;
}
interface Builtins {
  getBuiltinModule?(name: string): { channel(name: string): Channel } | undefined;
}

/**
 * Calls `onPing` for each ping of the service on a socket, until the returned function is called.
 * Undefined where pings are not visible, as in browsers. The platform answers them in any case.
 */
export function watchPings(socket: WebSocketLike, onPing: () => void): (() => void) | undefined {
  // Node reports pings only on a diagnostics channel. Importing it would break this package in
  // browsers.
  const node = (globalThis as { process?: Builtins }).process?.getBuiltinModule?.("node:diagnostics_channel");
  if (node === undefined) return undefined;
  const channel = node.channel("undici:websocket:ping");
  const listener = (message: unknown): void => {
    if ((message as { websocket?: unknown }).websocket === socket) onPing();
  };
  channel.subscribe(listener);
  return () => channel.unsubscribe(listener);
}
