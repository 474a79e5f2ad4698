import { closeCodes } from "./close-codes.ts";
import { closeSlowly } from "./close-slowly.ts";
import type { Connections } from "./connections.ts";

const maxFarewellMilliseconds = 2_000;
const lookMilliseconds = 20;

/**
 * Closes all connections within `seconds`, including their close handshakes, then cuts the rest.
 */
export async function drainConnections(connections: Connections, seconds: number): Promise<void> {
  const deadline = performance.now() + seconds * 1000;
  const farewell = Math.min(maxFarewellMilliseconds, seconds * 500);
  await closeSlowly(connections, {
    code: closeCodes.restart,
    reason: "this replica shuts down: connect again",
    milliseconds: seconds * 1000 - farewell,
  });
  await new Promise<void>((resolve) => {
    const timer = setInterval(() => {
      if (connections.size > 0 && performance.now() < deadline) return;
      clearInterval(timer);
      resolve();
    }, lookMilliseconds);
  });
  for (const connection of Array.from(connections.all())) connection.socket.terminate();
}
