import type { IncomingMessage, ServerResponse } from "node:http";
import { closedByCaller } from "./closed-by-caller.ts";
import { mustClose } from "./unread-body.ts";

/**
 * Answers with JSON text in parts, each asked for when the caller has taken those before. The head goes with the first,
 * so that what is thrown before is still answered like any error; whoever catches a later one has to cut the
 * connection. Of HEAD only the first part is asked for. Returns the status.
 * @throws what `parts` throws.
 */
export async function sendParts(
  { request, response }: { request: IncomingMessage; response: ServerResponse },
  status: number,
  headers: readonly string[],
  parts: AsyncIterable<string>,
): Promise<number> {
  const all = [...headers, "Content-Type", "application/json; charset=utf-8"];
  if (mustClose(request)) {
    // Dropped as it comes, for as long as a request may take.
    all.push("Connection", "close");
    request.resume();
  }
  for await (const part of parts) {
    if (response.destroyed) return closedByCaller;
    if (!response.headersSent) response.writeHead(status, all);
    if (request.method === "HEAD") break;
    if (!response.write(part)) await taken(response);
  }
  if (response.destroyed) return closedByCaller;
  response.end();
  return status;
}

/** Resolves when more may be written, or nobody is there any more. */
function taken(response: ServerResponse): Promise<void> {
  if (response.destroyed) return Promise.resolve();
  return new Promise((resolve) => {
    const done = (): void => {
      response.off("drain", done);
      response.off("close", done);
      resolve();
    };
    response.on("drain", done);
    response.on("close", done);
  });
}
