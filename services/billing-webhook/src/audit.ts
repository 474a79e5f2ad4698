import type { Actor } from "@coffer/service";

/** Who does whatever billing records. */
export const stripeActor: Actor = { type: "system", id: "stripe" };
