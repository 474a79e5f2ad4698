import { createHmac } from "node:crypto";
import type { StripeGiven } from "./case-file.ts";

/** A missing signing secret for a case with Stripe events. */
const nobodysSecret = "whsec_of_nobody";

/** `Stripe-Signature` of a body, correct except for the faults of a case. */
export function signEvent(body: string, secret: string | undefined, { age, key, over }: StripeGiven): string {
  const time = Math.floor(Date.now() / 1000) - age;
  const signer = key === "own" ? (secret ?? nobodysSecret) : nobodysSecret;
  return `t=${time},v1=${createHmac("sha256", signer)
    .update(`${time}.${over ?? body}`)
    .digest("hex")}`;
}
