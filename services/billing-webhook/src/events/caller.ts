import { ServiceError } from "@coffer/errors";
import type { Authenticate } from "@coffer/http";
import type { Deps } from "../deps.ts";

/** Stripe, as long as nothing else is known: the signature of the body proves it, in the operation. */
export interface Stripe {
  readonly kind: "stripe";
}

const caller: Stripe = { kind: "stripe" };

/**
 * Lets requests in while billing is on.
 * @throws ServiceError `not_found` while it is off, before the body is read
 */
export const stripe: Authenticate<Stripe, Pick<Deps, "config">> = (_input, { config }) => {
  if (config.COFFER_BILLING === "off") throw new ServiceError("not_found", "billing is off in this installation");
  return caller;
};
