import { createHmac } from "node:crypto";
import { headerOf, type RawRequest, setHeader } from "./request.ts";

const header = "stripe-signature";

/**
 * Signs the final body of a Stripe webhook, as Stripe would: an unsigned one would only be refused.
 * Leaves a signature that a malformation has set.
 */
export function signEvent(request: RawRequest, secret: string): void {
  if (headerOf(request, header) !== undefined) return;
  const time = Math.floor(Date.now() / 1000);
  const signed = createHmac("sha256", secret)
    .update(`${time}.`)
    .update(request.body ?? "");
  setHeader(request, header, `t=${time},v1=${signed.digest("hex")}`);
}
