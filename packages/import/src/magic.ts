/** Whether the file begins as a zip archive does. */
export function isZip(bytes: Uint8Array): boolean {
  return startsWith(bytes, [0x50, 0x4b, 0x03, 0x04]);
}

/** Whether the file is a KeePass database, which is encrypted. */
export function isKeepassDatabase(bytes: Uint8Array): boolean {
  return startsWith(bytes, [0x03, 0xd9, 0xa2, 0x9a]);
}

function startsWith(bytes: Uint8Array, start: readonly number[]): boolean {
  return start.every((byte, index) => bytes[index] === byte);
}
