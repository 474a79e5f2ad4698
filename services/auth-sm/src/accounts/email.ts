import { z } from "zod";

/**
 * The one form of an e-mail address: in it accounts are kept, looked up and known to OPAQUE, so that no other spelling
 * of an address is another account.
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
