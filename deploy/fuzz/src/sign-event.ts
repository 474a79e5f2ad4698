import { createHmac } from "node:crypto";
import type { RawRequest } from "./request.ts";
import { headerOf, setHeader } from "./request.ts";

const header = "stripe-signature";

/**
 * Signs what a request to Stripe's webhook holds by now, as Stripe would: unsigned it would be refused at the door. A
 * signature that a malformation has set stays.
 */
export function signEvent(request: RawRequest, secret: string): void {
  if (headerOf(request, header) !== undefined) return;
  const time = Math.floor(Date.now() / 1000);
  const signed = createHmac("sha256", secret)
    .update(`${time}.`)
    .update(request.body ?? "");
  setHeader(request, header, `t=${time},v1=${signed.digest("hex")}`);
}
