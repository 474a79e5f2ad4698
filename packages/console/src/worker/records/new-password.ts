import { wordlist } from "@scure/bip39/wordlists/english.js";
import type { CharacterSet, NewPassword } from "../../protocol/records.ts";

/** Letters and digits that look like others are left out. */
const characters: Readonly<Record<"letters" | CharacterSet, string>> = {
  letters: "abcdefghijkmnopqrstuvwxyz",
  capitals: "ABCDEFGHJKLMNPQRSTUVWXYZ",
  digits: "23456789",
  symbols: "!#$%&*+-=?@_",
};

/** A new password: characters of all wanted sets, or words of the BIP-39 list (11 bits each) with a dash between them. */
export function newPassword({ kind, length, without = [] }: NewPassword): string {
  if (kind === "words") return Array.from({ length }, () => wordlist[below(wordlist.length)] ?? "").join("-");
  const { letters, ...others } = characters;
  const wanted = Object.entries(others).filter(([name]) => !without.some((each) => each === name));
  const sets = [letters, ...wanted.map(([, set]) => set)];
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
