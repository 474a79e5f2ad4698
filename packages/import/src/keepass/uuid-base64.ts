/** A UUID as KeePass writes it: its 16 bytes in base64. */
export function uuidBase64(uuid: string): string {
  const bytes = uuid.replaceAll("-", "").match(/../g) ?? [];
  return btoa(String.fromCharCode(...bytes.map((pair) => Number.parseInt(pair, 16))));
}
