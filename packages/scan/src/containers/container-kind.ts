export type ContainerKind = "gzip" | "bzip2" | "xz" | "zip" | "tar";

const tarMagicAt = 257;

/** The kind of a container by its first bytes, whatever its name is. */
export function containerKindOf(bytes: Buffer): ContainerKind | undefined {
  const head = bytes.toString("latin1", 0, 10);
  if (head.startsWith("\x1f\x8b\x08")) return "gzip";
  if (/^BZh[1-9]1AY&SY/.test(head)) return "bzip2";
  if (head.startsWith("\xfd7zXZ\0")) return "xz";
  if (["PK\x03\x04", "PK\x05\x06", "PK\x07\x08"].includes(head.slice(0, 4))) return "zip";
  return bytes.toString("latin1", tarMagicAt, tarMagicAt + 5) === "ustar" || isOldTar(bytes) ? "tar" : undefined;
}

/** A tar file from before POSIX has no magic, but its first header has the sum of its bytes. */
function isOldTar(bytes: Buffer): boolean {
  if (bytes.length < 1024 || bytes[0] === 0 || bytes.length % 512 !== 0) return false;
  const said = Number.parseInt(bytes.toString("latin1", 148, 156).replace(/[\0 ]+$/, ""), 8);
  if (!(said > 0)) return false;
  let sum = 0;
  for (let at = 0; at < 512; at += 1) sum += at >= 148 && at < 156 ? 0x20 : (bytes[at] as number);
  return sum === said;
}
