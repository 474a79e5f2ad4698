import { closeCodes } from "./close-codes.ts";
import { closeSlowly } from "./close-slowly.ts";
import type { Connections } from "./connections.ts";

const longestFarewell = 2_000;
const lookMilliseconds = 20;

/**
 * Ends all connections within so many seconds, their answers to the farewell included; what is left then is cut.
 */
export async function drainConnections(connections: Connections, seconds: number): Promise<void> {
  const deadline = performance.now() + seconds * 1000;
  const farewell = Math.min(longestFarewell, seconds * 500);
  await closeSlowly(connections, {
    code: closeCodes.restart,
    reason: "this replica ends: connect again",
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
