import { keyOf } from "./sealed-secret.ts";
import type { OpenFolder } from "./secret-store.ts";

/** Whether a text has the form of a secret's uid: 16 bytes in base64url. Such a text is never taken for a title. */
export function isSecretUid(text: string): boolean {
  return /^[A-Za-z0-9_-]{21}[AQgw]$/.test(text);
}

const base64url: Record<string, string> = { "+": "-", "/": "_" };

/**
 * The uid of a new secret: 16 bytes that its folder's key and its title give, so that whoever makes a secret of that
 * title in that folder makes the same uid, and nobody without the key can tell which title a uid stands for. One that
 * is taken (by a secret that had the title before) gives way to the next.
 */
export async function freeUid(folder: OpenFolder, title: string, taken: ReadonlySet<string>): Promise<string> {
  const key = await crypto.subtle.importKey(
    "raw",
    new Uint8Array(keyOf(folder)),
    { name: "HMAC", hash: "SHA-256" },
    false,
    ["sign"],
  );
  for (let turn = 0; ; turn += 1) {
    const message = new TextEncoder().encode(`coffer/v1/uid/${folder.id}/${turn}/${title}`);
    const bytes = new Uint8Array(await crypto.subtle.sign("HMAC", key, message)).subarray(0, 16);
    const uid = btoa(String.fromCharCode(...bytes)).replace(/[+/=]/g, (sign) => base64url[sign] ?? "");
    if (!uid.startsWith("-") && !taken.has(uid)) return uid;
  }
}
