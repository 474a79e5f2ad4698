import type { Actor } from "@coffer/http";

/** The actor of all audit records of billing. */
export const stripeActor: Actor = { type: "system", id: "stripe" };
