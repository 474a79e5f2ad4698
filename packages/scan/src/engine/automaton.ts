/** An Aho-Corasick automaton over bytes, in which upper and lower case of ASCII letters are one. */
export interface Automaton {
  /** The class of each byte; bytes that no keyword contains share class 0. */
  readonly classes: Uint8Array;
  /** The next state, by state and class. A state is its row's offset in this table. */
  readonly next: Int32Array;
  readonly width: number;
  /** States from here on end a keyword. */
  readonly firstOutput: number;
  /** The keywords that a state ends, by the index of the keyword; the first row is that of `firstOutput`. */
  readonly outputs: readonly (readonly number[])[];
}

interface Node {
  readonly children: Map<number, Node>;
  readonly ends: number[];
  fail: Node | null;
  state: number;
}

/** Builds the automaton of these keywords, which are latin1 and not empty. */
export function buildAutomaton(keywords: readonly string[]): Automaton {
  const { classes, width } = classesOf(keywords);
  const root = newNode();
  keywords.forEach((keyword, index) => insert(root, classes, keyword, index));
  const nodes = linked(root);
  // Shallow states first, because a search spends its time in them; those with output last, for one comparison.
  const silent = nodes.filter(({ ends }) => ends.length === 0);
  const loud = nodes.filter(({ ends }) => ends.length > 0);
  [...silent, ...loud].forEach((node, index) => (node.state = index * width));
  const next = new Int32Array(nodes.length * width);
  for (const node of nodes)
    for (let sign = 0; sign < width; sign += 1) {
      const child = node.children.get(sign);
      const inherited = node.fail === null ? 0 : (next[node.fail.state + sign] as number);
      next[node.state + sign] = child?.state ?? inherited;
    }
  return { classes, next, width, firstOutput: silent.length * width, outputs: loud.map(({ ends }) => ends) };
}

/** What one half of a search found. */
export interface Half {
  /** For each keyword the offset behind it, then the state. */
  readonly hits: Uint32Array;
  hitCount: number;
  /** An offset inside each run of base64 characters that is long enough to be looked at. */
  readonly runs: Uint32Array;
  runCount: number;
}

/**
 * Searches bytes from `from` to `to` as two halves in one loop, because each step waits for the one before: two independent
 * chains take little more time than one. Each half begins `overlap` bytes early, in which it reports nothing. Offsets in a
 * half are ascending, and all of the first half come before those of the second. A half has room for a hit at every byte.
 */
export function search(
  { next, classes, firstOutput }: Automaton,
  inRun: Int32Array,
  leastRun: number,
  bytes: Uint8Array,
  from: number,
  to: number,
  overlap: number,
  [first, second]: readonly [Half, Half],
): void {
  const middle = from + ((to - from) >> 1);
  const { hits: hits1, runs: runs1 } = first;
  const { hits: hits2, runs: runs2 } = second;
  let [state1, state2, run1, run2, hitCount1, hitCount2, runCount1, runCount2] = [0, 0, 0, 0, 0, 0, 0, 0];
  for (let at = Math.max(0, from - overlap); at < from; at += 1) {
    const byte = bytes[at] as number;
    state1 = next[state1 + (classes[byte] as number)] as number;
    run1 = (run1 + 1) & (inRun[byte] as number);
  }
  for (let at = Math.max(0, middle - overlap); at < middle; at += 1) {
    const byte = bytes[at] as number;
    state2 = next[state2 + (classes[byte] as number)] as number;
    run2 = (run2 + 1) & (inRun[byte] as number);
  }
  let ahead = middle;
  for (let at = from; ahead < to; at += 1, ahead += 1) {
    const byte2 = bytes[ahead] as number;
    state2 = next[state2 + (classes[byte2] as number)] as number;
    run2 = (run2 + 1) & (inRun[byte2] as number);
    if (state2 >= firstOutput) {
      hits2[hitCount2] = ahead + 1;
      hits2[hitCount2 + 1] = state2;
      hitCount2 += 2;
    }
    if (run2 === leastRun) {
      runs2[runCount2] = ahead;
      runCount2 += 1;
    }
    // The second half is longer by the last byte of an odd length.
    if (at >= middle) continue;
    const byte1 = bytes[at] as number;
    state1 = next[state1 + (classes[byte1] as number)] as number;
    run1 = (run1 + 1) & (inRun[byte1] as number);
    if (state1 >= firstOutput) {
      hits1[hitCount1] = at + 1;
      hits1[hitCount1 + 1] = state1;
      hitCount1 += 2;
    }
    if (run1 === leastRun) {
      runs1[runCount1] = at;
      runCount1 += 1;
    }
  }
  first.hitCount = hitCount1;
  first.runCount = runCount1;
  second.hitCount = hitCount2;
  second.runCount = runCount2;
}

function classesOf(keywords: readonly string[]): { classes: Uint8Array; width: number } {
  const classes = new Uint8Array(256);
  let width = 1;
  for (const keyword of keywords)
    for (const byte of Buffer.from(keyword.toLowerCase(), "latin1")) {
      if (classes[byte] !== 0) continue;
      classes[byte] = width;
      if (byte >= 0x61 && byte <= 0x7a) classes[byte - 0x20] = width;
      width += 1;
    }
  return { classes, width };
}

function insert(root: Node, classes: Uint8Array, keyword: string, index: number): void {
  let node = root;
  for (const byte of Buffer.from(keyword, "latin1")) {
    const sign = classes[byte] as number;
    const child = node.children.get(sign) ?? newNode();
    node.children.set(sign, child);
    node = child;
  }
  node.ends.push(index);
}

/** All nodes in breadth-first order, with their failure links and the outputs that these bring. */
function linked(root: Node): Node[] {
  const nodes = [root];
  for (const node of nodes)
    for (const [sign, child] of node.children) {
      let fail = node.fail;
      while (fail !== null && !fail.children.has(sign)) fail = fail.fail;
      child.fail = fail?.children.get(sign) ?? root;
      child.ends.push(...child.fail.ends);
      nodes.push(child);
    }
  return nodes;
}

function newNode(): Node {
  return { children: new Map(), ends: [], fail: null, state: 0 };
}
