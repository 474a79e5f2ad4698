import { Readable } from "node:stream";
import { main } from "../src/main.ts";

/** One call of the command in a series. */
export interface SeriesCall {
  args: string[];
  env: Record<string, string>;
  /** What stdin holds; nothing without it. */
  input?: string;
}

/** What all of a call's output was. */
export interface SeriesOutcome {
  code: number;
  output: string;
}

/**
 * Reads calls from stdin as JSON, makes one after the other in this process, and prints the
 * outcomes as JSON.
 */
async function runSeries(): Promise<void> {
  const chunks: Buffer[] = [];
  for await (const chunk of process.stdin) chunks.push(chunk as Buffer);
  const calls = JSON.parse(Buffer.concat(chunks).toString()) as SeriesCall[];
  const outcomes: SeriesOutcome[] = [];
  process.stdout.setMaxListeners(0);
  process.stderr.setMaxListeners(0);
  const streams = [process.stdout, process.stderr] as const;
  const writes = streams.map((stream) => stream.write.bind(stream));
  for (const { args, env, input } of calls) {
    let output = "";
    for (const stream of streams)
      stream.write = (text: string | Uint8Array) => {
        output += typeof text === "string" ? text : Buffer.from(text).toString();
        return true;
      };
    process.env = env;
    Object.defineProperty(process, "stdin", { value: Readable.from([Buffer.from(input ?? "")]), configurable: true });
    process.exitCode = 0;
    await main(args);
    streams.forEach((stream, index) => (stream.write = writes[index] as typeof stream.write));
    outcomes.push({ code: process.exitCode, output });
  }
  process.exitCode = 0;
  process.stdout.write(JSON.stringify(outcomes));
}

await runSeries();
