import type { ServerResponse } from "node:http";
import type { AnswerMemory } from "../memory/memory-limits.ts";

/**
 * Ends a response if its reader takes nothing for the patience, or the idle timeout if that is
 * shorter. The socket compares its queue with that of the previous timeout, so a silent reader has
 * one to two times as long. Returns the function that restores the idle timeout.
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
  socket.setTimeout(idleMilliseconds === 0 ? patienceMilliseconds : Math.min(patienceMilliseconds, idleMilliseconds));
  return () => {
    response.off("timeout", end);
    socket.setTimeout(idleMilliseconds);
  };
}
