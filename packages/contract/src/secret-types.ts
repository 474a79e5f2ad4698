/**
 * The types of a secret (specification 2.3). The server stores the type and gives it no meaning.
 */
export const recordTypes = [
  "login",
  "card",
  "note",
  "identity",
  "ssh_key",
  "api_credential",
  "database",
  "env_file",
] as const;
export type RecordType = (typeof recordTypes)[number];
