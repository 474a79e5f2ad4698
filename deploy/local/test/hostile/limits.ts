/** High limits for one address, and long sessions. */
export const limits = {
  COFFER_LIMIT_STRICT: "1000000",
  COFFER_LIMIT_STANDARD: "1000000",
  COFFER_LIMIT_USER: "1000000",
  COFFER_ACCESS_TOKEN_SECONDS: "86400",
};
