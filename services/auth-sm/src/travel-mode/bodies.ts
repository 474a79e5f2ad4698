import { z } from "zod";
import { proofFields } from "../accounts/bodies.ts";

/** The proof is asked for to turn it off; with `enabled: true` it is not looked at. */
export const ownTravelMode = proofFields.extend({ enabled: z.boolean() });
export type OwnTravelMode = z.infer<typeof ownTravelMode>;

export const memberTravelMode = z.object({ enabled: z.boolean() });
export type MemberTravelMode = z.infer<typeof memberTravelMode>;
