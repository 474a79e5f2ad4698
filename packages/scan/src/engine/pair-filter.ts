// Each index is within bounds: `as` leaves out the `undefined` that its type adds.

/** A text to search for. With `anyCase`, ASCII letters match in upper and lower case. */
export interface Sought {
  readonly bytes: Uint8Array;
  readonly anyCase: boolean;
}

/**
 * Finds keywords in two steps. `search` reads a text as pairs of bytes and reports each offset
 * where two neighbouring pairs belong to one group of windows. `keywordsAt` then compares the text
 * there with the keywords.
 *
 * A window is four bytes of a keyword, with blanks beyond the keyword's edges. Pairs start at even
 * offsets, so each keyword has two windows: one for each parity of its offset in the text.
 */
export interface PairFilter {
  /**
   * The groups, as bits, in which a window's first two bytes are this pair: first byte plus 256
   * times the second.
   */
  readonly first: Int32Array;
  /** The groups in which a window's last two bytes are this pair. */
  readonly second: Int32Array;
  /** By `keyOf`, the index of the first window with this key plus 1; 0 without one. */
  readonly firstWindow: Uint16Array;
  /**
   * A window's four bytes as a little-endian integer, and the bits of it that must be equal. Sorted
   * by key.
   */
  readonly values: Int32Array;
  readonly masks: Int32Array;
  readonly keys: Int32Array;
  /** The four bytes before a window as a little-endian integer, and the bits of it that the keyword fixes. */
  readonly valuesBefore: Int32Array;
  readonly masksBefore: Int32Array;
  /** The index of a window's keyword, and the offset of the window in the keyword. */
  readonly keywords: Int32Array;
  readonly offsets: Int32Array;
  /** For each byte of each keyword, the bits that must be equal. */
  readonly bits: readonly Uint8Array[];
  readonly sought: readonly Sought[];
}

/** What a search found, and what it carries from one part of a text to the next. */
export interface SearchState {
  /** The offset of each candidate. Has room for two in each word. */
  readonly hits: Int32Array;
  hitCount: number;
  /** An offset inside each stretch that may be an encoded text. Has room for one in each word. */
  readonly runs: Int32Array;
  runCount: number;
  /** The groups of the last pair, for the next word. */
  previous: number;
  /** How far an encoded text goes on, for the next word. */
  encoded: number;
}

/** One bit of an integer for each. */
const mostGroups = 32;
/**
 * The share of offsets at which a group may report a candidate by chance. A smaller one needs more
 * groups: the built-in rules fill 30.
 */
const mostChance = 1.5e-4;

/** Makes keywords ready for `search`. They are not empty. */
export function buildPairFilter(sought: readonly Sought[]): PairFilter {
  const windows: Window[] = [];
  for (let keyword = 0; keyword < sought.length; keyword += 1) {
    const each = sought[keyword] as Sought;
    const chances = chancesOf(each);
    for (let parity = 0; parity < 2; parity += 1) windows.push(windowOf(each, keyword, chances, parity));
  }
  const tables = tablesOf(windows);
  windows.sort((a, b) => a.key - b.key);
  const firstWindow = new Uint16Array(65_536);
  for (let index = windows.length - 1; index >= 0; index -= 1) firstWindow[(windows[index] as Window).key] = index + 1;
  return {
    ...tables,
    firstWindow,
    values: Int32Array.from(windows, ({ value }) => value),
    masks: Int32Array.from(windows, ({ mask }) => mask),
    // With an end that is no key.
    keys: Int32Array.from([...windows.map(({ key }) => key), -1]),
    valuesBefore: Int32Array.from(windows, ({ valueBefore }) => valueBefore),
    masksBefore: Int32Array.from(windows, ({ maskBefore }) => maskBefore),
    keywords: Int32Array.from(windows, ({ keyword }) => keyword),
    offsets: Int32Array.from(windows, ({ offset }) => offset),
    bits: sought.map(bitsOf),
    sought,
  };
}

/**
 * Searches `count` words of a text, of which the first begins at the offset `base`. `encodedPairs`
 * and `encodedStart` are those of `encoded-pairs.ts`. Verifies nothing: a loop that only compares
 * integers is compiled to fast code.
 */
export function search(
  { first, second }: PairFilter,
  encodedPairs: Int32Array,
  encodedStart: number,
  encodedEnd: number,
  words: Int32Array,
  count: number,
  base: number,
  state: SearchState,
): void {
  const { hits, runs } = state;
  let { previous, encoded } = state;
  let [hitCount, runCount] = [0, 0];
  for (let index = 0; index < count; index += 1) {
    const word = words[index] as number;
    const low = word & 0xffff;
    const high = word >>> 16;
    const across = previous & (second[low] as number);
    const within = (first[low] as number) & (second[high] as number);
    previous = first[high] as number;
    const halfway = ((encoded << 2) | encodedStart) & (encodedPairs[low] as number);
    encoded = ((halfway << 2) | encodedStart) & (encodedPairs[high] as number);
    if ((across | within | ((halfway | encoded) & encodedEnd)) === 0) continue;
    if (across !== 0) {
      hits[hitCount] = base + 4 * index - 2;
      hitCount += 1;
    }
    if (within !== 0) {
      hits[hitCount] = base + 4 * index;
      hitCount += 1;
    }
    if (((halfway | encoded) & encodedEnd) !== 0) {
      // The shortest stretch that counts goes back beyond this offset, wherever in the word it ends.
      runs[runCount] = base + 4 * index - 3;
      runCount += 1;
      encoded = 0;
    }
  }
  state.previous = previous;
  state.encoded = encoded;
  state.hitCount = hitCount;
  state.runCount = runCount;
}

/** Calls `found` for each keyword that has a window at an offset, with the offset of the keyword. */
export function keywordsAt(
  filter: PairFilter,
  bytes: Uint8Array,
  offset: number,
  found: (keyword: number, start: number) => void,
): void {
  const word = wordAt(bytes, offset);
  windowsOf(filter, bytes, offset, word, wholeKey(word), found);
  windowsOf(filter, bytes, offset, word, middleKey(word), found);
  windowsOf(filter, bytes, offset, word, shortKey(word), found);
}

/** Four bytes as a little-endian integer, with zeros beyond the text's edges. */
function wordAt(bytes: Uint8Array, offset: number): number {
  if (offset >= 0 && offset + 4 <= bytes.length)
    return (
      (bytes[offset] as number) |
      ((bytes[offset + 1] as number) << 8) |
      ((bytes[offset + 2] as number) << 16) |
      ((bytes[offset + 3] as number) << 24)
    );
  return (
    (bytes[offset] ?? 0) |
    ((bytes[offset + 1] ?? 0) << 8) |
    ((bytes[offset + 2] ?? 0) << 16) |
    ((bytes[offset + 3] ?? 0) << 24)
  );
}

function windowsOf(
  filter: PairFilter,
  bytes: Uint8Array,
  offset: number,
  word: number,
  key: number,
  found: (keyword: number, start: number) => void,
): void {
  const { firstWindow, values, masks, valuesBefore, masksBefore, keys, keywords, offsets } = filter;
  const first = firstWindow[key] as number;
  if (first === 0) return;
  // Some windows, such as `s://`, belong to many keywords, which differ in what stands before.
  const before = wordAt(bytes, offset - 4);
  for (let window = first - 1; keys[window] === key; window += 1) {
    if (((word ^ (values[window] as number)) & (masks[window] as number)) !== 0) continue;
    if (((before ^ (valuesBefore[window] as number)) & (masksBefore[window] as number)) !== 0) continue;
    const start = offset - (offsets[window] as number);
    const keyword = keywords[window] as number;
    if (standsAt(filter, bytes, keyword, start)) found(keyword, start);
  }
}

/** Without the bit that tells upper and lower case apart. */
const keyMask = 0xdfdf;
const wholeMask = ~0x20202020;

/**
 * The key of windows inside their keyword: a hash of the four bytes. Windows with the same key differ
 * in their values.
 */
function wholeKey(word: number): number {
  return Math.imul(word & wholeMask, 0x9e3779b1) >>> 16;
}

/** The key of windows that go one byte beyond their keyword's edges. */
function middleKey(word: number): number {
  return (word >>> 8) & keyMask;
}

/** The key of windows with two bytes. */
function shortKey(word: number): number {
  return (word & keyMask) | caseBit;
}

function keyOf(value: number, mask: number): number {
  if (mask >>> 16 === 0) return shortKey(value);
  return (mask & wholeMask) === wholeMask ? wholeKey(value) : middleKey(value);
}

function standsAt({ sought, bits }: PairFilter, bytes: Uint8Array, keyword: number, start: number): boolean {
  const wanted = (sought[keyword] as Sought).bytes;
  const mask = bits[keyword] as Uint8Array;
  if (start < 0 || start + wanted.length > bytes.length) return false;
  for (let index = 0; index < wanted.length; index += 1)
    if ((((bytes[start + index] as number) ^ (wanted[index] as number)) & (mask[index] as number)) !== 0) return false;
  return true;
}

interface Window {
  keyword: number;
  /** In the keyword: -1 when its first byte is the window's second. */
  offset: number;
  value: number;
  mask: number;
  valueBefore: number;
  maskBefore: number;
  /** The shares of pairs that the first and the last two bytes allow, in a text such as source. */
  firstChance: number;
  secondChance: number;
  /** What a search for the window begins with, by `keyOf`. */
  key: number;
}

/** Bits of a byte that tell upper and lower case of a letter apart. */
const caseBit = 0x20;

function isLetter(byte: number): boolean {
  const small = byte | caseBit;
  return small >= 0x61 && small <= 0x7a;
}

function bitsOf({ bytes, anyCase }: Sought): Uint8Array {
  return bytes.map((byte) => (anyCase && isLetter(byte) ? 0xff - caseBit : 0xff));
}

/** For each byte of a keyword the share of the bytes of source that fit it. Beyond its edges all do. */
function chancesOf({ bytes, anyCase }: Sought): Float64Array {
  const chances = new Float64Array(bytes.length + 5).fill(1);
  for (let index = 0; index < bytes.length; index += 1) {
    const byte = bytes[index] as number;
    // Begins one byte before the keyword, as the first window does.
    chances[index + 1] =
      anyCase && isLetter(byte)
        ? (shares[byte | caseBit] as number) + (shares[byte & ~caseBit] as number)
        : (shares[byte] as number);
  }
  return chances;
}

/** The rarest window of a keyword for offsets in the text of one parity. */
function windowOf(sought: Sought, keyword: number, chances: Float64Array, parity: number): Window {
  // Assigned one by one: this runs once for each start of the command, uncompiled, where arrays of
  // values are slow.
  let offset = 0;
  let firstChance = 1;
  let secondChance = 1;
  const { length } = sought.bytes;
  for (let at = -parity; at < length; at += 2) {
    const first = (chances[at + 1] as number) * (chances[at + 2] as number);
    const second = (chances[at + 3] as number) * (chances[at + 4] as number);
    if (first * second >= firstChance * secondChance) continue;
    offset = at;
    firstChance = first;
    secondChance = second;
  }
  const { value, mask } = fixedBytes(sought, offset);
  const { value: valueBefore, mask: maskBefore } = fixedBytes(sought, offset - 4);
  const key = keyOf(value, mask);
  return { keyword, offset, value, mask, valueBefore, maskBefore, key, firstChance, secondChance };
}

/**
 * Four bytes of a keyword from an offset as a little-endian integer, and the bits of it that must
 * be equal.
 */
function fixedBytes(sought: Sought, offset: number): { value: number; mask: number } {
  const { bytes, anyCase } = sought;
  const end = Math.min(offset + 4, bytes.length);
  let value = 0;
  let mask = 0;
  for (let at = Math.max(0, offset); at < end; at += 1) {
    const byte = bytes[at] as number;
    const bits = anyCase && isLetter(byte) ? 0xff - caseBit : 0xff;
    mask |= bits << (8 * (at - offset));
    value |= (byte & bits) << (8 * (at - offset));
  }
  return { value, mask };
}

/** The bytes of source by how often they occur, the most frequent first. */
const frequent = " etrnsaoi\ncldpu.hmf,()gy\"=/:;*b{}v\t_'T-SExwAkC`RI0OPD1|N[]L2jMF>BU?&\\3q4<@!V+z$658HK#GW97QYJZX";
const shares = new Float64Array(256).fill(0.0003);
for (let rank = 0; rank < frequent.length; rank += 1)
  shares[frequent.charCodeAt(rank)] = rank === 0 ? 0.19 : 0.08 * Math.exp(-rank / 12) + 0.0006;

/**
 * Cuts windows into groups, each as large as a candidate by chance is rare enough, and enters them
 * in the tables.
 */
function tablesOf(windows: readonly Window[]): Pick<PairFilter, "first" | "second"> {
  const first = new Int32Array(65_536);
  const second = new Int32Array(65_536);
  let [group, firstChance, secondChance] = [0, 0, 0];
  let [heads, tails] = [new Set<number>(), new Set<number>()];
  for (const { value, mask, firstChance: headChance, secondChance: tailChance } of [...windows].sort(byTail)) {
    // A pair and its mask in one number.
    const head = (value & 0xffff) + (mask & 0xffff) * 0x10000;
    const tail = (value >>> 16) + (mask >>> 16) * 0x10000;
    const wider = firstChance + (heads.has(head) ? 0 : headChance);
    const longer = secondChance + (tails.has(tail) ? 0 : tailChance);
    if (wider * longer > mostChance && heads.size > 0 && group + 1 < mostGroups) {
      group += 1;
      [heads, tails] = [new Set(), new Set()];
      [firstChance, secondChance] = [headChance, tailChance];
    } else [firstChance, secondChance] = [wider, longer];
    if (!heads.has(head)) addPair(first, value & 0xffff, mask & 0xffff, 1 << group);
    // Windows that end with any pair come first: nothing is in the table yet but others of them.
    const inAll = second[0] as number;
    if (mask >>> 16 === 0) {
      if ((inAll & (1 << group)) === 0) second.fill(inAll | (1 << group));
    } else if (!tails.has(tail)) addPair(second, value >>> 16, mask >>> 16, 1 << group);
    heads.add(head);
    tails.add(tail);
  }
  return { first, second };
}

/** Windows with common ends first, so that they share groups and spoil no others. */
function byTail(a: Window, b: Window): number {
  return b.secondChance - a.secondChance || (a.value >>> 16) - (b.value >>> 16) || a.value - b.value;
}

/** Sets a bit for all pairs that agree with one in the bits of a mask. */
function addPair(table: Int32Array, pair: number, mask: number, bit: number): void {
  const free = 0xffff & ~mask;
  // Goes through all subsets of the free bits.
  for (let subset = free; ; subset = (subset - 1) & free) {
    table[pair | subset] = (table[pair | subset] as number) | bit;
    if (subset === 0) return;
  }
}
