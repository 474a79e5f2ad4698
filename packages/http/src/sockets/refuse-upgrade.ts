import { STATUS_CODES } from "node:http";
import type { Duplex } from "node:stream";
import { endSocket } from "./end-socket.ts";

/**
 * Refuses an upgrade with an HTTP response and closes the connection. `headers`: name, value, name,
 * value.
 */
export function refuseUpgrade(socket: Duplex, status: number, headers: readonly string[], body: string): void {
  const all = [...headers, "Connection", "close", "Cache-Control", "no-store", "X-Content-Type-Options", "nosniff"];
  all.push("Content-Type", "application/json; charset=utf-8", "Content-Length", String(Buffer.byteLength(body)));
  const lines = inPairs(all).map(([name, value]) => `${name}: ${value}\r\n`);
  endSocket(socket, `HTTP/1.1 ${status} ${STATUS_CODES[status] ?? ""}\r\n${lines.join("")}\r\n${body}`);
}

export function inPairs(list: readonly string[]): (readonly [name: string, value: string])[] {
  const pairs: (readonly [string, string])[] = [];
  for (let at = 0; at + 1 < list.length; at += 2) pairs.push([list[at] ?? "", list[at + 1] ?? ""]);
  return pairs;
}
