import type { ServerResponse } from "node:http";
import type { Readable } from "node:stream";
import type { AnswerMemory } from "../memory/memory-limits.ts";
import { watchReader } from "./watch-reader.ts";

/**
 * Streams the body of another server's answer into `response`, with backpressure, and ends the
 * response. Counts in `memory` what waits for the reader, and closes it. Cuts the response if that is
 * too much, if its reader takes nothing for the patience, or if `source` fails.
 */
export function passOn(source: Readable, response: ServerResponse, memory: AnswerMemory): void {
  let held = 0;
  let unwatch = (): void => undefined;
  const hold = (): void => {
    // `pipe` also pauses the source when the response is finished or closed.
    if (response.destroyed || response.writableLength === 0) return;
    // While it waits, the connection to the other server fills its buffer.
    held = response.writableLength + (source.readableEnded ? 0 : source.readableHighWaterMark);
    const over = memory.take(held) !== undefined;
    // A change is always answered.
    if (over && response.req.method === "GET") response.destroy();
    else unwatch = watchReader(response, memory);
  };
  // Before `pipe` adds its own listener, which may pause the source again.
  response.on("drain", () => {
    memory.give(held);
    held = 0;
    unwatch();
  });
  response.once("close", () => memory.close());
  source.on("pause", hold);
  source.on("end", hold);
  source.on("error", () => response.destroy());
  source.pipe(response);
}
