import { gunzipSync, gzipSync } from "node:zlib";

const block = 512;
const [timeAt, checksumAt, checksumLength] = [136, 148, 8];

/**
 * A .tar.gz with the same files, of which each has the given time, in seconds since 1970: Helm writes the
 * time of the packing.
 */
export function normalizeArchive(archive: Buffer, seconds: number): Buffer {
  const tar = Buffer.from(gunzipSync(archive));
  for (let at = 0; at + block <= tar.length && tar[at] !== 0;) {
    const header = tar.subarray(at, at + block);
    const size = Number.parseInt(header.toString("latin1", 124, 135), 8);
    header.write(`${seconds.toString(8).padStart(11, "0")}\0`, timeAt, "latin1");
    // The checksum counts its own field as spaces.
    header.fill(" ", checksumAt, checksumAt + checksumLength);
    const sum = header.reduce((total, byte) => total + byte, 0);
    header.write(`${sum.toString(8).padStart(6, "0")}\0 `, checksumAt, "latin1");
    at += block + Math.ceil(size / block) * block;
  }
  return gzipSync(tar, { level: 9 });
}
