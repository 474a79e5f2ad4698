import { usableKeyOf } from "./sealed-secret.ts";
import type { OpenFolder } from "./secret-store.ts";

/**
 * Whether a text has the form of a secret's uid: 16 bytes in base64url. Such a text is never a
 * title.
 */
export function isSecretUid(text: string): boolean {
  return /^[A-Za-z0-9_-]{21}[AQgw]$/.test(text);
}

const base64url: Record<string, string> = { "+": "-", "/": "_" };

/**
 * The uid of a new secret: 16 bytes derived from its folder's key and its title. So every client
 * that creates the title in this folder gets the same uid, and without the key the uid discloses
 * nothing about the title. If it is taken, by a secret that had the title before, the next
 * candidate is used.
 */
export async function freeUid(folder: OpenFolder, title: string, taken: ReadonlySet<string>): Promise<string> {
  const key = await crypto.subtle.importKey(
    "raw",
    new Uint8Array(await usableKeyOf(folder)),
    { name: "HMAC", hash: "SHA-256" },
    false,
    ["sign"],
  );
  for (let candidate = 0; ; candidate += 1) {
    const message = new TextEncoder().encode(`coffer/v1/uid/${folder.id}/${candidate}/${title}`);
    const bytes = new Uint8Array(await crypto.subtle.sign("HMAC", key, message)).subarray(0, 16);
    const uid = btoa(String.fromCharCode(...bytes)).replace(/[+/=]/g, (sign) => base64url[sign] ?? "");
    if (!uid.startsWith("-") && !taken.has(uid)) return uid;
  }
}
