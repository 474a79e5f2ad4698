import { Writable } from "node:stream";

export interface Lines {
  readonly destination: Writable;
  /** Everything written so far. */
  text(): string;
  /** Each line, parsed: it throws when one is not JSON. */
  parsed(): Record<string, unknown>[];
}

/** Collects what a logger writes. */
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
