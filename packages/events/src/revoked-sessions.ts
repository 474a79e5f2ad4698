/**
 * Where every service reads in Redis which sessions have ended: a sorted set of session ids, scored by the Unix
 * milliseconds of their end. auth-sm writes it; what ended longer ago than an access token lives is dropped.
 */
export const revokedSessionsKey = "coffer:revoked-sessions";
