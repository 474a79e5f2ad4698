import type { IncomingMessage, ServerResponse } from "node:http";
import { closedByCaller } from "./closed-by-caller.ts";
import type { AnswerMemory } from "../memory/memory-limits.ts";
import { mustClose } from "../request/unread-body.ts";
import { watchReader } from "./watch-reader.ts";

/** What the source of the parts of a long list holds: rows of 2 MiB, and their objects. */
const sourceBytes = 3 * 1024 * 1024;

/**
 * Streams JSON text with backpressure. Sends the head with the first part, so that an earlier error
 * gets an ordinary response; after a later error the caller must cut the connection. Reads only the
 * first part for HEAD. Returns the status.
 * @throws what `parts` throws; ServiceError if `memory` has no room for a part
 */
export async function sendParts(
  { request, response }: { request: IncomingMessage; response: ServerResponse },
  status: number,
  headers: readonly string[],
  parts: AsyncIterable<string>,
  memory: AnswerMemory,
): Promise<number> {
  const all = [...headers, "Content-Type", "application/json; charset=utf-8"];
  if (mustClose(request)) {
    // Drops the rest of the body.
    all.push("Connection", "close");
    request.resume();
  }
  try {
    for await (const part of parts) {
      if (response.destroyed) return closedByCaller;
      const source = response.headersSent ? 0 : sourceBytes;
      const over = request.method === "HEAD" ? undefined : memory.take(source + part.length);
      if (over !== undefined) throw over;
      if (!response.headersSent) response.writeHead(status, all);
      if (request.method === "HEAD") break;
      if (!response.write(part)) await taken(response, memory);
      memory.give(part.length);
    }
  } finally {
    memory.close();
  }
  if (response.destroyed) return closedByCaller;
  response.end();
  return status;
}

/** Resolves on drain, or when the connection is closed. */
function taken(response: ServerResponse, memory: AnswerMemory): Promise<void> {
  if (response.destroyed) return Promise.resolve();
  return new Promise((resolve) => {
    const unwatch = watchReader(response, memory);
    const done = (): void => {
      response.off("drain", done);
      response.off("close", done);
      unwatch();
      resolve();
    };
    response.on("drain", done);
    response.on("close", done);
  });
}
