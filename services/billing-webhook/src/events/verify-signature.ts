import { isUtf8 } from "node:buffer";
import Stripe from "stripe";

/** How old a signature may be. Stripe signs each delivery again. */
const toleranceSeconds = 300;
/** The library takes this for "of any age". */
const anyAge = 0;
const byteOrderMark = Buffer.from("\ufeff");

/** Why a body is not taken for Stripe's: words for the log. */
export type SignatureProblem = "missing" | "mismatch" | "too_old";

/**
 * Checks `Stripe-Signature` over the bytes of a body, with each of the secrets.
 * @returns null when one of them made the signature at most 300 s ago
 */
export function signatureProblem(
  body: Buffer,
  header: string | undefined,
  { secrets, now }: { secrets: readonly string[]; now: Date },
): SignatureProblem | null {
  if (header === undefined || header === "") return "missing";
  if (!isExactText(body)) return "mismatch";
  const isSigned = (tolerance: number): boolean =>
    secrets.some((secret) => verifies({ body, header, secret, tolerance, now }));
  if (isSigned(toleranceSeconds)) return null;
  return isSigned(anyAge) ? "too_old" : "mismatch";
}

/**
 * The library verifies the decoded text. Only for UTF-8 without a byte order mark does one text
 * have one form in bytes: otherwise a changed body could have the same signature.
 */
function isExactText(body: Buffer): boolean {
  return isUtf8(body) && !body.subarray(0, byteOrderMark.length).equals(byteOrderMark);
}

interface Signed {
  body: Buffer;
  header: string;
  secret: string;
  tolerance: number;
  now: Date;
}

function verifies({ body, header, secret, tolerance, now }: Signed): boolean {
  const { signature } = Stripe.webhooks;
  if (signature === null) throw new Error("the stripe library has no signature check");
  try {
    return signature.verifyHeader(body, header, secret, tolerance, undefined, now.getTime());
  } catch {
    // A header of another form makes the library throw errors of any kind.
    return false;
  }
}
