import { Transform } from "node:stream";

// Each index is within bounds: `as` leaves out the `undefined` that its type adds.

const replacement = Buffer.from("***");

/** One state of the automaton: the prefixes of values that the bytes so far match. */
interface State {
  /** The length of the matched prefix. */
  depth: number;
  /** The length of the longest value that ends here; 0 without one. */
  matched: number;
  /** The state of the longest proper suffix that is a prefix of a value. */
  fallback: number;
}

interface Automaton {
  states: State[];
  /** Next state by state × 256 + byte. */
  next: Map<number, number>;
}

/** A shorter text occurs in unrelated output too often: `***` for every 1 hides nothing. */
const shortestMasked = 4;

/**
 * The texts to mask: each whole value, and each line of a value with several lines. Blank texts and
 * texts of fewer than four characters are not masked.
 */
export function maskedTexts(values: Iterable<string>): string[] {
  const texts = new Set<string>();
  for (const value of values)
    for (const text of [value, ...value.split(/\r\n|\r|\n/)])
      if (text.trim() !== "" && Array.from(text).length >= shortestMasked) texts.add(text);
  return [...texts];
}

/**
 * A stream that replaces each run of bytes of a masked text by `***`, wherever the chunks are cut,
 * and passes other bytes through. It holds back only bytes that could be the start of an
 * occurrence.
 */
export function maskingStream(texts: readonly string[]): Transform {
  const automaton = build(texts.map((text) => Buffer.from(text)));
  let state = 0;
  let held: Buffer = Buffer.alloc(0);
  /** The sections of `held` that belong to occurrences, in order. */
  let runs: [from: number, to: number][] = [];
  let insideRun = false;

  /** Outputs the first `count` held bytes, with one replacement per run. */
  const release = (output: Transform, count: number): void => {
    let at = 0;
    while (at < count) {
      const run = runs[0];
      const plainEnd = Math.min(run === undefined ? count : Math.max(run[0], at), count);
      if (plainEnd > at) {
        output.push(held.subarray(at, plainEnd));
        insideRun = false;
        at = plainEnd;
      } else if (run !== undefined) {
        if (!insideRun) output.push(replacement);
        insideRun = true;
        at = Math.min(run[1], count);
        if (at === run[1]) runs.shift();
      }
    }
    held = held.subarray(count);
    runs = runs.map(([from, to]) => [Math.max(from - count, 0), to - count]);
  };

  return new Transform({
    transform(chunk: Buffer, _encoding, done) {
      const start = held.length;
      held = start === 0 ? chunk : Buffer.concat([held, chunk]);
      for (let at = start; at < held.length; at += 1) {
        state = step(automaton, state, held[at] as number);
        const { matched } = automaton.states[state] as State;
        if (matched > 0) runs = joined(runs, [at + 1 - matched, at + 1]);
      }
      release(this, held.length - (automaton.states[state] as State).depth);
      done();
    },
    flush(done) {
      release(this, held.length);
      done();
    },
  });
}

/** Adds a run that ends last, and merges the runs that it overlaps. */
function joined(runs: [number, number][], added: [number, number]): [number, number][] {
  let [from] = added;
  while (runs.length > 0 && (runs.at(-1) as [number, number])[1] > from)
    from = Math.min(from, (runs.pop() as [number, number])[0]);
  runs.push([from, added[1]]);
  return runs;
}

function step({ states, next }: Automaton, state: number, byte: number): number {
  for (let from = state; ; from = (states[from] as State).fallback) {
    const to = next.get(from * 256 + byte);
    if (to !== undefined) return to;
    if (from === 0) return 0;
  }
}

/** The automaton of Aho and Corasick: all values at once, in time linear in the output. */
function build(texts: Buffer[]): Automaton {
  const states: State[] = [{ depth: 0, matched: 0, fallback: 0 }];
  const next = new Map<number, number>();
  for (const text of texts) {
    let state = 0;
    for (const byte of text) {
      const known = next.get(state * 256 + byte);
      const to = known ?? states.push({ depth: (states[state] as State).depth + 1, matched: 0, fallback: 0 }) - 1;
      if (known === undefined) next.set(state * 256 + byte, to);
      state = to;
    }
    (states[state] as State).matched = text.length;
  }
  // Breadth first, so that the fallback of a shorter prefix exists before a longer one needs it.
  const edges = [...next].sort(([, a], [, b]) => (states[a] as State).depth - (states[b] as State).depth);
  for (const [edge, to] of edges) {
    const from = Math.floor(edge / 256);
    const target = states[to] as State;
    target.fallback = from === 0 ? 0 : step({ states, next }, (states[from] as State).fallback, edge % 256);
    target.matched ||= (states[target.fallback] as State).matched;
  }
  return { states, next };
}
