import type { Database } from "@coffer/postgres";

/** Prepares the query of the keys that verify machines' tokens. */
export function createClientKeys(database: Database) {
  const find = database.prepared<{ public_key: string }>("client-key", "SELECT public_key FROM clients WHERE id = $1");
  return {
    /** The client's public key, base64 of the SPKI DER, or null when there is no such client. */
    find: async (clientId: string): Promise<string | null> => (await find([clientId]))[0]?.public_key ?? null,
  };
}
