/** A text in which each character takes two or four bytes, in either order. */
export type WideEncoding = "utf-16le" | "utf-16be" | "utf-32le" | "utf-32be";

const sampled = 8_000;

/**
 * The wide encoding of a text: by its byte order mark, else by NULs that are mostly at odd or
 * mostly at even offsets. Undefined for every other text.
 */
export function wideEncodingOf(bytes: Buffer): WideEncoding | undefined {
  if (bytes.length >= 4) {
    if (bytes[0] === 0xff && bytes[1] === 0xfe && bytes[2] === 0 && bytes[3] === 0) return "utf-32le";
    if (bytes[0] === 0 && bytes[1] === 0 && bytes[2] === 0xfe && bytes[3] === 0xff) return "utf-32be";
  }
  if (bytes[0] === 0xff && bytes[1] === 0xfe) return "utf-16le";
  if (bytes[0] === 0xfe && bytes[1] === 0xff) return "utf-16be";
  return byNuls(bytes.subarray(0, sampled));
}

function byNuls(bytes: Buffer): WideEncoding | undefined {
  if (bytes.length < 8 || !bytes.includes(0)) return undefined;
  const nuls = [0, 0, 0, 0];
  bytes.forEach((byte, index) => {
    if (byte === 0) nuls[index % 4] = (nuls[index % 4] ?? 0) + 1;
  });
  const [zero, one, two, three] = nuls as [number, number, number, number];
  const full = 0.7 * (bytes.length / 4);
  const few = 0.1 * (bytes.length / 4);
  if (one > full && two > full && three > full && zero < few) return "utf-32le";
  if (zero > full && one > full && two > full && three < few) return "utf-32be";
  if (one + three > 2 * full && zero + two < 2 * few) return "utf-16le";
  if (zero + two > 2 * full && one + three < 2 * few) return "utf-16be";
  return undefined;
}

/** The text as UTF-8, without its byte order mark. */
export function toUtf8(bytes: Buffer, encoding: WideEncoding): Buffer {
  const text = encoding.startsWith("utf-16") ? fromUtf16(bytes, encoding) : fromUtf32(bytes, encoding);
  return Buffer.from(text.startsWith("\ufeff") ? text.slice(1) : text, "utf8");
}

function fromUtf16(bytes: Buffer, encoding: WideEncoding): string {
  const even = bytes.subarray(0, bytes.length - (bytes.length % 2));
  return (encoding === "utf-16be" ? Buffer.from(even).swap16() : even).toString("utf16le");
}

function fromUtf32(bytes: Buffer, encoding: WideEncoding): string {
  const parts: string[] = [];
  for (let at = 0; at + 4 <= bytes.length; at += 4) {
    const code = encoding === "utf-32le" ? bytes.readUInt32LE(at) : bytes.readUInt32BE(at);
    parts.push(code <= 0x10ffff ? String.fromCodePoint(code) : "\ufffd");
  }
  return parts.join("");
}
