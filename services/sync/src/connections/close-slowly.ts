import type { CloseCode } from "./close-codes.ts";
import type { Connection } from "./connection.ts";
import type { Connections } from "./connections.ts";

const stepMilliseconds = 50;

/**
 * Closes the current connections, spread over `milliseconds`, so that clients do not all reconnect
 * at once. Resolves when every connection has its close frame.
 */
export function closeSlowly(
  connections: Connections,
  { code, reason, milliseconds }: { code: CloseCode; reason: string; milliseconds: number },
): Promise<void> {
  const left = Array.from(connections.all());
  const count = left.length;
  const began = performance.now();
  return new Promise((resolve) => {
    const step = (): void => {
      const share = milliseconds === 0 ? 1 : (performance.now() - began) / milliseconds;
      const due = Math.min(count, Math.floor(share * count) + 1);
      for (let closed = count - left.length; closed < due; closed += 1) closeNext(left.pop());
      if (left.length > 0 && connections.size > 0) return;
      clearInterval(timer);
      resolve();
    };
    const closeNext = (connection: Connection | undefined): void => connection?.close(code, reason);
    const timer = setInterval(step, stepMilliseconds);
    step();
  });
}
