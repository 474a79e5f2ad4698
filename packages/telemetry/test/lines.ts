import { Writable } from "node:stream";

export interface Lines {
  readonly destination: Writable;
  /** The text so far. */
  text(): string;
  /** Each line, parsed; throws for a line that is not JSON. */
  parsed(): Record<string, unknown>[];
}

/** Collects the output of a logger. */
export function collectLines(): Lines {
  let all = "";
  const destination = new Writable({
    write(chunk: Buffer, _encoding, done) {
      all += chunk.toString();
      done();
    },
  });
  return {
    destination,
    text: () => all,
    parsed: () =>
      all
        .split("\n")
        .filter((line) => line !== "")
        .map((line) => JSON.parse(line) as Record<string, unknown>),
  };
}
