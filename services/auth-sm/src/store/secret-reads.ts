import type { Database } from "@coffer/postgres";
import { eachOf } from "@coffer/postgres";
import type { GrantedFolder as ClientFolder } from "./client-folders.ts";
import type { ClientState } from "./clients.ts";
import type { SecretReceiptRow, SecretRow } from "./secrets.ts";

// The reads that machines repeat all day: one named prepared statement each, which answers who the client is, what it
// was granted and what it asks for in a single round trip (docs/adr/0003). Rows are trusted here: their columns are
// fixed by these statements and the schema's constraints.

const clientState = ({ now, ip }: { now: string; ip: string }) => `
  c.org_id, c.application_id, c.revoked_at IS NOT NULL AS revoked,
  coalesce(c.expires_at <= ${now}, false) AS expired,
  (c.allowed_cidrs IS NULL OR ${ip} <<= ANY (c.allowed_cidrs)) AS address_allowed`;
const clientColumns = clientState({ now: "$2::timestamptz", ip: "$3::inet" });

// Of many at once, each beside its place `n`. The limits keep the planner at one look into an index for each, whatever
// it takes the tables to hold.
const eachClient = (columns: Record<string, string>) => `
  FROM ${eachOf({ client_id: "uuid", now: "timestamptz", ip: "inet", ...columns })}
  JOIN LATERAL (SELECT * FROM clients WHERE id = asked.client_id LIMIT 1) c ON true`;
const eachClientColumns = `asked.n::integer AS n, ${clientState({ now: "asked.now", ip: "asked.ip" })}`;
const eachGrant = (folderId: string) => `
  LEFT JOIN LATERAL (
    SELECT permission FROM client_folders WHERE client_id = c.id AND folder_id = ${folderId} LIMIT 1
  ) g ON true`;

/** Who asks, as every statement needs it. */
export interface Asker {
  clientId: string;
  ip: string;
  now: Date;
}

/** A secret beside the client's grant on its folder: `uid` null when the organization has no such secret. */
export type GrantedSecret = ClientState &
  ((SecretRow & { permission: "read" | "write" | null }) | { uid: null; permission: null });

/** One field beside the grant: `value` null when the secret has no field by that name. */
export type GrantedField = ClientState &
  (
    | {
        uid: string;
        folder_id: string;
        title_encrypted: string;
        wrapped_dek: string;
        key_version: number;
        updated_at: string;
        value: string | null;
        permission: "read" | "write" | null;
      }
    | { uid: null; permission: null }
  );

/** What a notation asks for: its folder by name or by id, its secret by title or uid. */
export interface AskedNotation {
  folder: { nameFolded: string; id?: undefined } | { id: string; nameFolded?: undefined };
  title: string;
  field: string;
}

/** What a notation names: `folder_id` null for no such folder, `uid` null for no such secret in it. */
export type GrantedNotation = ClientState &
  (
    | { folder_id: null; permission: null; uid: null }
    | ({ folder_id: string; folder_name: string; permission: "read" | "write" | null } & (
        | { uid: null }
        | {
            uid: string;
            title: string | null;
            /** How many secrets of the folder have this title; 1 for the one that has this uid, whatever the titles. */
            matches: number;
            title_encrypted: string;
            wrapped_dek: string;
            key_version: number;
            updated_at: string;
            value: string | null;
          }
      ))
  );

/**
 * The client, and whether it was granted the folder that it names, beside a digest of its grants and of every secret
 * below them: it changes whenever any of that does.
 */
export type VisibleDigest = ClientState & { folder_granted: boolean; digest: string };

/** A folder beside the client's grant on it: `permission` null when there is none. */
export type GrantedFolder = ClientState &
  ({ permission: "read" | "write"; key_version: number } | { permission: null; key_version: null });

/** What a write needs to know of a secret: `uid` null when the organization has none, `permission` null without a grant. */
export type GrantedReceipt = ClientState &
  (
    | (SecretReceiptRow & { permission: "read" | "write" | null; folder_key_version: number })
    | { uid: null; permission: null }
  );

/** A client as it sees itself, beside one of its folders: `id` null when it was granted none. */
type IdentityBesideFolder = ClientState & { client_name: string; expires_at: string | null } & (
    ClientFolder | { id: null }
  );
/** A client as it sees itself, with its folders by name. */
export type SeenClient = ClientState & { client_name: string; expires_at: string | null; folders: ClientFolder[] };

export type SecretReads = ReturnType<typeof createSecretReads>;

/** Prepares the statements. Each function returns null when there is no such client. */
export function createSecretReads(database: Database) {
  const secret = database.preparedEach<GrantedSecret>(
    "read-secrets",
    `SELECT ${eachClientColumns}, g.permission, s.uid, s.folder_id, s.title_encrypted, s.encrypted_payload,
       s.wrapped_dek, s.record_type, s.title, s.field_names, s.key_version, s.version, s.created_at, s.updated_at
     ${eachClient({ uid: "text" })}
     LEFT JOIN LATERAL (SELECT * FROM secrets WHERE org_id = c.org_id AND uid = asked.uid LIMIT 1) s ON true
     ${eachGrant("s.folder_id")}`,
  );
  const field = database.preparedEach<GrantedField>(
    "read-fields",
    `SELECT ${eachClientColumns}, g.permission, s.uid, s.folder_id, s.title_encrypted, s.wrapped_dek,
       s.key_version, s.updated_at, s.fields ->> asked.field AS value
     ${eachClient({ uid: "text", field: "text" })}
     LEFT JOIN LATERAL (SELECT * FROM secrets WHERE org_id = c.org_id AND uid = asked.uid LIMIT 1) s ON true
     ${eachGrant("s.folder_id")}`,
  );
  const notation = database.preparedEach<GrantedNotation>(
    "resolve-notations",
    `SELECT ${eachClientColumns}, f.id AS folder_id, f.name AS folder_name, g.permission, s.uid, s.title, s.matches,
       s.title_encrypted, s.wrapped_dek, s.key_version, s.updated_at, s.fields ->> asked.field AS value
     ${eachClient({ folder_folded: "text", folder_id: "uuid", title: "text", field: "text" })}
     LEFT JOIN LATERAL (
       SELECT id, name FROM folders
       WHERE org_id = c.org_id AND (name_folded = asked.folder_folded OR id = asked.folder_id) LIMIT 1
     ) f ON true
     ${eachGrant("f.id")}
     LEFT JOIN LATERAL (
       SELECT uid, title, title_encrypted, wrapped_dek, key_version, updated_at, fields,
         CASE WHEN uid = asked.title THEN 1 ELSE (count(*) OVER ())::integer END AS matches
       FROM secrets WHERE folder_id = f.id AND (title = asked.title OR (org_id = c.org_id AND uid = asked.title))
       ORDER BY uid = asked.title DESC LIMIT 1
     ) s ON true`,
  );
  // The digest that machineScope has for its lists.
  const digest = database.prepared<VisibleDigest>(
    "visible-digest",
    `SELECT ${clientColumns}, (
       $4::uuid IS NULL OR EXISTS (SELECT FROM client_folders WHERE client_id = c.id AND folder_id = $4)
     ) AS folder_granted, (
       SELECT count(*) || '.' || coalesce(sum(hash_record_extended((g.folder_id, g.permission, f.history_seq), 0)), 0)
       FROM client_folders g JOIN folders f ON f.id = g.folder_id WHERE g.client_id = c.id
     ) || '.' || (
       SELECT count(*) || '.' || coalesce(sum(hash_record_extended((s.uid, s.version, s.updated_at), 0)), 0)
       FROM client_folders g JOIN secrets s ON s.folder_id = g.folder_id WHERE g.client_id = c.id
     ) AS digest
     FROM clients c WHERE c.id = $1`,
  );
  const folder = database.preparedEach<GrantedFolder>(
    "read-folder-grants",
    `SELECT ${eachClientColumns}, g.permission, f.key_version
     ${eachClient({ folder_id: "uuid" })}
     ${eachGrant("asked.folder_id")}
     LEFT JOIN LATERAL (
       SELECT key_version FROM folders WHERE id = asked.folder_id AND g.permission IS NOT NULL LIMIT 1
     ) f ON true`,
  );
  const receipt = database.preparedEach<GrantedReceipt>(
    "read-receipts",
    `SELECT ${eachClientColumns}, g.permission, f.key_version AS folder_key_version, s.uid, s.folder_id, s.record_type,
       s.created_at, s.updated_at, s.version, s.key_version
     ${eachClient({ uid: "text" })}
     LEFT JOIN LATERAL (SELECT * FROM secrets WHERE org_id = c.org_id AND uid = asked.uid LIMIT 1) s ON true
     LEFT JOIN LATERAL (SELECT key_version FROM folders WHERE id = s.folder_id LIMIT 1) f ON true
     ${eachGrant("s.folder_id")}`,
  );
  const client = database.prepared<IdentityBesideFolder>(
    "read-client",
    `SELECT ${clientColumns}, c.name AS client_name, c.expires_at,
       f.id, f.name, g.permission, f.key_version, g.encrypted_key, g.encrypted_key_alg, f.history_seq
     FROM clients c
     LEFT JOIN (client_folders g JOIN folders f ON f.id = g.folder_id) ON g.client_id = c.id
     WHERE c.id = $1 ORDER BY f.name_folded`,
  );

  const first = <Row>(rows: readonly Row[]): Row | null => rows[0] ?? null;
  const asked = ({ clientId, ip, now }: Asker) => [clientId, now.toISOString(), ip];

  return {
    /** The secret with that uid in the client's organization. */
    secret: (asker: Asker, uid: string) => secret([...asked(asker), uid]),
    /** One field of the secret with that uid. */
    field: (asker: Asker, uid: string, name: string) => field([...asked(asker), uid, name]),
    /** The field that a notation names. */
    notation: (asker: Asker, { folder, title, field }: AskedNotation) =>
      notation([...asked(asker), folder.nameFolded ?? null, folder.id ?? null, title, field]),
    /** The client's grant on a folder. */
    folder: (asker: Asker, folderId: string) => folder([...asked(asker), folderId]),
    /** The secret with that uid, without its content. */
    receipt: (asker: Asker, uid: string) => receipt([...asked(asker), uid]),
    /** The client itself and all its folders. */
    client: async (asker: Asker) => seenClient(await client(asked(asker))),
    /** The state of everything that the client can see; `folderId` is the one that it names. */
    digest: async (asker: Asker, folderId: string | undefined) =>
      first(await digest([...asked(asker), folderId ?? null])),
  };
}

function seenClient(rows: readonly IdentityBesideFolder[]): SeenClient | null {
  const [first] = rows;
  if (first === undefined) return null;
  const folders = rows.flatMap((row): ClientFolder[] => {
    if (row.id === null) return [];
    const { id, name, permission, key_version, encrypted_key, encrypted_key_alg, history_seq } = row;
    return [{ id, name, permission, key_version, encrypted_key, encrypted_key_alg, history_seq }];
  });
  return { ...first, folders };
}
