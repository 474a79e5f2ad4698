const uuid = /^[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i;

/** A claim that is a UUID in any case, in lower case: its one canonical form. Anything else is null. */
export function uuidOf(claim: unknown): string | null {
  return typeof claim === "string" && uuid.test(claim) ? claim.toLowerCase() : null;
}
