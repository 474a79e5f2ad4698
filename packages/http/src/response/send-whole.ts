import type { ServerResponse } from "node:http";
import { answer } from "./answer.ts";
import type { Exchange } from "../exchange.ts";
import { smallBytes } from "../memory/memory-budget.ts";
import type { AnswerMemory } from "../memory/memory-limits.ts";
import { watchReader } from "./watch-reader.ts";

/**
 * Sends `body`, and counts what its reader has not taken. Returns the status.
 * @throws ServiceError if there is no room for a large one; a change is always answered
 */
export function sendWhole<Caller>(
  exchange: Exchange<Caller>,
  status: number,
  headers: readonly string[],
  body: string,
  open: () => AnswerMemory,
): number {
  const { request, response } = exchange;
  let memory: AnswerMemory | undefined;
  if (request.method === "GET" && body.length > smallBytes) {
    memory = open();
    const over = memory.take(body.length);
    if (over !== undefined) {
      memory.close();
      throw over;
    }
  }
  answer(exchange, status, headers, body);
  const waiting = response.destroyed ? 0 : response.writableLength;
  if (waiting === 0) memory?.close();
  else {
    if (memory === undefined) {
      memory = open();
      memory.take(waiting);
    }
    closeWhenTaken(response, memory);
  }
  return status;
}

function closeWhenTaken(response: ServerResponse, memory: AnswerMemory): void {
  watchReader(response, memory);
  response.once("close", () => memory.close());
}
