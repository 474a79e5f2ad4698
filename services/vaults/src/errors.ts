import { ServiceError } from "@coffer/errors";

/** The message for a client-made id that exists: perhaps from a request whose response was lost. */
export const idTaken = (what: "vault" | "record"): string =>
  `this id is taken: if an earlier request of yours created the ${what}, read it; otherwise use another id`;

/** The message after 5 s of conflicts with changes of the vault's visibility. */
export const busy = "the members of this vault keep changing; try again";

export function recordNotFound(): ServiceError {
  return new ServiceError("not_found", "record not found");
}
