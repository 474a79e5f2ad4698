import { createHmac } from "node:crypto";
import type { StripeGiven } from "./case-file.ts";

/** What a case that speaks as Stripe asks for, where the runner was given no secret. */
const nobodysSecret = "whsec_of_nobody";

/** `Stripe-Signature` of a body, right but for what a case asks to be wrong. */
export function signEvent(body: string, secret: string | undefined, { age, key, over }: StripeGiven): string {
  const time = Math.floor(Date.now() / 1000) - age;
  const signer = key === "own" ? (secret ?? nobodysSecret) : nobodysSecret;
  return `t=${time},v1=${createHmac("sha256", signer)
    .update(`${time}.${over ?? body}`)
    .digest("hex")}`;
}
