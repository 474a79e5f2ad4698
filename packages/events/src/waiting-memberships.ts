import { z } from "zod";
import { membership } from "./organization-subjects.ts";

/**
 * Where vaults reads in Redis which changes of memberships wait for it in auth-sm's outbox, while the bus cannot carry them:
 * a JSON list of memberships. auth-sm writes it again and again while any wait; it lasts for seconds.
 */
export const waitingMembershipsKey = "coffer:waiting-memberships";

export const waitingMemberships = z.array(membership);
