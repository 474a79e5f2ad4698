import type { ServerResponse } from "node:http";
import type { AnswerMemory } from "./memory-limits.ts";

/**
 * Ends a response if its reader takes nothing for the patience of `memory`. Bytes that the system
 * has passed on restart the time. Returns the function that restores the idle timeout.
 */
export function watchReader(
  response: ServerResponse,
  { patienceMilliseconds, unread }: Pick<AnswerMemory, "patienceMilliseconds" | "unread">,
): () => void {
  const { socket } = response.req;
  const idleMilliseconds = socket.timeout ?? 0;
  const end = (): void => {
    unread();
    response.destroy();
  };
  response.on("timeout", end);
  socket.setTimeout(patienceMilliseconds);
  return () => {
    response.off("timeout", end);
    socket.setTimeout(idleMilliseconds);
  };
}
