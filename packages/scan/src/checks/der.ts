/** One element of DER: its tag and its content. */
export interface DerElement {
  tag: number;
  content: Uint8Array;
  /** The element with its header. */
  whole: Uint8Array;
}

/** The elements that stand one behind the other in these bytes; null when they are no DER. */
export function derElements(bytes: Uint8Array): DerElement[] | null {
  const elements: DerElement[] = [];
  for (let at = 0; at < bytes.length;) {
    const element = elementAt(bytes, at);
    if (element === null) return null;
    elements.push(element);
    at += element.whole.length;
  }
  return elements;
}

/** The first element; bytes behind it are ignored. */
export function derElement(bytes: Uint8Array): DerElement | null {
  return elementAt(bytes, 0);
}

function elementAt(bytes: Uint8Array, at: number): DerElement | null {
  const tag = bytes[at];
  const first = bytes[at + 1];
  if (tag === undefined || first === undefined) return null;
  let length = first;
  let header = 2;
  if (first >= 0x80) {
    const count = first & 0x7f;
    if (count === 0 || count > 3) return null;
    length = 0;
    for (let index = 0; index < count; index += 1) length = length * 256 + (bytes[at + 2 + index] ?? 0);
    header += count;
  }
  const end = at + header + length;
  if (end > bytes.length) return null;
  return { tag, content: bytes.subarray(at + header, end), whole: bytes.subarray(at, end) };
}

/** An unsigned INTEGER as a number of any size. */
export function derInteger({ content }: DerElement): bigint {
  return BigInt(`0x${Buffer.from(content).toString("hex") || "0"}`);
}
