/** Why an id that a client made is not taken: it may be its own, by a request whose answer was lost. */
export const idTaken = (what: "vault" | "record"): string =>
  `this id is taken: if an earlier request of yours made it, read the ${what} and go on with it; else make another id`;
