/** What a secret may be (specification 2.3). The server keeps the word and gives it no meaning. */
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
