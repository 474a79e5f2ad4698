import { crypto } from "./builtin.ts";

/**
 * `cf1:` and the first 128 bits of SHA-256 over kind and secret, each after its length as 4 bytes
 * big-endian. It depends on nothing else, so it survives moved lines and renamed files.
 */
export function fingerprintOf(kind: string, secret: Uint8Array): string {
  const hash = crypto().createHash("sha256");
  for (const part of [Buffer.from(kind), secret]) {
    const length = Buffer.alloc(4);
    length.writeUInt32BE(part.length);
    hash.update(length).update(part);
  }
  return `cf1:${hash.digest("hex").slice(0, 32)}`;
}
