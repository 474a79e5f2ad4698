import { z } from "zod";

/**
 * The canonical form of an e-mail address: trimmed, NFKC, lower case. Accounts are stored, looked
 * up and known to OPAQUE in this form. Spellings with one canonical form are one account.
 * Language-specific equivalents (ß and ss, the two small sigmas) are different accounts.
 */
export function canonicalEmail(text: string): string {
  return text.trim().normalize("NFKC").toLowerCase();
}

// A minimal check. Only sending mail shows whether an address exists.
const address = /^[^\s@\p{C}]+@[^\s@\p{C}]+$/u;

/** An e-mail address in a body: at most 254 characters in canonical form. */
export const emailText = z
  .string()
  .max(1024)
  .transform(canonicalEmail)
  .pipe(z.string().max(254).regex(address, "not an e-mail address"));
