import { wordlist } from "@scure/bip39/wordlists/english.js";
import type { NewPassword } from "../protocol.ts";

/** Letters and digits that look like others are left out. */
const sets = ["abcdefghijkmnopqrstuvwxyz", "ABCDEFGHJKLMNPQRSTUVWXYZ", "23456789", "!#$%&*+-=?@_"];

/** A new password: characters of all sets, or words of the BIP-39 list (11 bits each) with a dash between them. */
export function newPassword({ kind, length }: NewPassword): string {
  if (kind === "words") return Array.from({ length }, () => wordlist[below(wordlist.length)] ?? "").join("-");
  const all = sets.join("");
  for (;;) {
    const text = Array.from({ length }, () => all[below(all.length)] ?? "").join("");
    // Drawing the whole text again keeps each text that has all sets equally likely.
    if (length < sets.length || sets.every((set) => Array.from(set).some((letter) => text.includes(letter))))
      return text;
  }
}

/** A random whole number from 0 to below `limit`, each equally likely. */
function below(limit: number): number {
  const range = 2 ** 32 - (2 ** 32 % limit);
  for (;;) {
    const [value = 0] = crypto.getRandomValues(new Uint32Array(1));
    if (value < range) return value % limit;
  }
}
