import { z } from "zod";
import { proofFields } from "../accounts/bodies.ts";

/** The proof is needed to switch the mode off; it is ignored with `enabled: true`. */
export const ownTravelMode = proofFields.extend({ enabled: z.boolean() });
export type OwnTravelMode = z.infer<typeof ownTravelMode>;

export const memberTravelMode = z.object({ enabled: z.boolean() });
export type MemberTravelMode = z.infer<typeof memberTravelMode>;
