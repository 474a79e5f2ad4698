import { z } from "zod";

/**
 * The canonical form of an e-mail address, in which accounts are kept, looked up and known to OPAQUE: without blanks
 * around it, in NFKC, then in lower case. Spellings with the same form are one account; all others are accounts of
 * their own, also where only a language's rules would call them alike (ß and ss, the two small sigmas).
 */
export function canonicalEmail(text: string): string {
  return text.trim().normalize("NFKC").toLowerCase();
}

// Only what every address has: who receives mail there is not known before the mail is sent.
const address = /^[^\s@\p{C}]+@[^\s@\p{C}]+$/u;

/** An e-mail address in a body: at most 254 characters, in its canonical form. */
export const emailText = z
  .string()
  .max(1024)
  .transform(canonicalEmail)
  .pipe(z.string().max(254).regex(address, "not an e-mail address"));
