const uuid = /^[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i;

/** A UUID claim in lower case; null for other values. */
export function uuidOf(claim: unknown): string | null {
  return typeof claim === "string" && uuid.test(claim) ? claim.toLowerCase() : null;
}
