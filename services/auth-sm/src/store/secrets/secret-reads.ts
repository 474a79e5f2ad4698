import { type Database, eachOf, sql } from "@coffer/postgres";
import type { GrantedFolder as ClientFolder } from "../machines/client-folders.ts";
import { type ClientState, clientStateColumns } from "../machines/clients.ts";
import type { SecretReceiptRow, SecretRow } from "./secrets.ts";
import { unchecked } from "../unchecked.ts";

// The most frequent reads of machines: one prepared statement each, which returns the client's
// state, its grant and the data in one round trip (docs/adr/0003). The rows are not validated:
// these statements and the schema's constraints fix their columns.

const clientColumns = clientStateColumns({ now: sql.fragment`$2::timestamptz`, ip: sql.fragment`$3::inet` }).sql;

// A batch of requests, each with its position `n`. The limits keep the planner at one index lookup
// per request, whatever its estimates are.
const eachClient = (columns: Record<string, string>) => `
  FROM ${eachOf({ client_id: "uuid", now: "timestamptz", ip: "inet", ...columns })}
  JOIN LATERAL (SELECT * FROM clients WHERE id = requested.client_id LIMIT 1) c ON true`;
const requested = { now: sql.fragment`requested.now`, ip: sql.fragment`requested.ip` };
const eachClientColumns = `requested.n::integer AS n, ${clientStateColumns(requested).sql}`;
const eachGrant = (folderId: string) => `
  LEFT JOIN LATERAL (
    SELECT permission FROM client_folders WHERE client_id = c.id AND folder_id = ${folderId} LIMIT 1
  ) g ON true`;

/** A secret exists for machines until the moment at which it expires. */
const existing = "(expires_at IS NULL OR expires_at > requested.now)";
const namedSecret = `
  LEFT JOIN LATERAL (
    SELECT * FROM secrets WHERE org_id = c.org_id AND uid = requested.uid AND ${existing} LIMIT 1
  ) s ON true`;

export interface CallingClient {
  clientId: string;
  ip: string;
  now: Date;
}

/**
 * A secret with the client's grant on its folder; `uid` null when the organization has no such
 * secret or it has expired.
 */
type GrantedSecret = ClientState &
  ((SecretRow & { permission: "read" | "write" | null }) | { uid: null; permission: null });

/** One field of a secret; `value` null when the secret has no such field. */
export interface FieldRow {
  uid: string;
  folder_id: string;
  title_encrypted: string;
  wrapped_dek: string;
  key_version: number;
  updated_at: string;
  value: string | null;
}

/** One field with the grant, like `GrantedSecret`. */
type GrantedField = ClientState &
  ((FieldRow & { permission: "read" | "write" | null }) | { uid: null; permission: null });

/** A notation names its folder by name or id, and its secret by title or uid. */
export interface NotationQuery {
  folder: { nameFolded: string; id?: undefined } | { id: string; nameFolded?: undefined };
  title: string;
  field: string;
}

/**
 * The result of a notation: `folder_id` null for no such folder, `uid` null for no such secret in
 * it that has not expired.
 */
export type GrantedNotation = ClientState &
  (
    | { folder_id: null; permission: null; uid: null }
    | ({ folder_id: string; folder_name: string; permission: "read" | "write" | null } & (
        | { uid: null }
        | {
            uid: string;
            title: string | null;
            /**
             * How many secrets of the folder have this title; 1 for a match by uid, whatever the
             * titles.
             */
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
 * The client, whether it has a grant on the named folder, and a digest of its grants, of every
 * secret below them, and of which have expired.
 */
type VisibleDigest = ClientState & { folder_granted: boolean; digest: string };

/** A folder with the client's grant on it; `permission` null when there is none. */
type GrantedFolder = ClientState &
  ({ permission: "read" | "write"; key_version: number } | { permission: null; key_version: null });

/**
 * What a write needs of a secret: `uid` null when the organization has none or it has expired,
 * `permission` null without a grant.
 */
type GrantedReceipt = ClientState &
  (
    | (SecretReceiptRow & { permission: "read" | "write" | null; folder_key_version: number })
    | { uid: null; permission: null }
  );

/** A client as it sees itself, with one of its folders; `id` null without any grant. */
type IdentityBesideFolder = ClientState & { client_name: string; expires_at: string | null } & (
    ClientFolder | { id: null }
  );
export type SeenClient = ClientState & { client_name: string; expires_at: string | null; folders: ClientFolder[] };

export type SecretReads = ReturnType<typeof createSecretReads>;

/**
 * Prepares the statements. Each function reads null when there is no such client; `access/` checks
 * what was read.
 */
export function createSecretReads(database: Database) {
  const secret = database.preparedEach<GrantedSecret>(
    "read-secrets",
    `SELECT ${eachClientColumns}, g.permission, s.uid, s.folder_id, s.title_encrypted, s.encrypted_payload,
       s.wrapped_dek, s.record_type, s.title, s.field_names, s.key_version, s.version, s.created_at, s.updated_at,
       s.expires_at
     ${eachClient({ uid: "text" })}
     ${namedSecret}
     ${eachGrant("s.folder_id")}`,
  );
  const field = database.preparedEach<GrantedField>(
    "read-fields",
    `SELECT ${eachClientColumns}, g.permission, s.uid, s.folder_id, s.title_encrypted, s.wrapped_dek,
       s.key_version, s.updated_at, s.fields ->> requested.field AS value
     ${eachClient({ uid: "text", field: "text" })}
     ${namedSecret}
     ${eachGrant("s.folder_id")}`,
  );
  const notation = database.preparedEach<GrantedNotation>(
    "resolve-notations",
    `SELECT ${eachClientColumns}, f.id AS folder_id, f.name AS folder_name, g.permission, s.uid, s.title, s.matches,
       s.title_encrypted, s.wrapped_dek, s.key_version, s.updated_at, s.fields ->> requested.field AS value
     ${eachClient({ folder_folded: "text", folder_id: "uuid", title: "text", field: "text" })}
     LEFT JOIN LATERAL (
       SELECT id, name FROM folders
       WHERE org_id = c.org_id AND (name_folded = requested.folder_folded OR id = requested.folder_id) LIMIT 1
     ) f ON true
     ${eachGrant("f.id")}
     LEFT JOIN LATERAL (
       SELECT uid, title, title_encrypted, wrapped_dek, key_version, updated_at, fields,
         CASE WHEN uid = requested.title THEN 1 ELSE (count(*) OVER ())::integer END AS matches
       FROM secrets
       WHERE folder_id = f.id AND (title = requested.title OR (org_id = c.org_id AND uid = requested.title))
         AND ${existing}
       ORDER BY uid = requested.title DESC LIMIT 1
     ) s ON true`,
  );
  // Must equal the digest of `machineScope`.
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
     ) || '.' || (
       SELECT count(*) FROM client_folders g JOIN secrets s ON s.folder_id = g.folder_id
       WHERE g.client_id = c.id AND s.expires_at <= $2::timestamptz
     ) AS digest
     FROM clients c WHERE c.id = $1`,
  );
  const folder = database.preparedEach<GrantedFolder>(
    "read-folder-grants",
    `SELECT ${eachClientColumns}, g.permission, f.key_version
     ${eachClient({ folder_id: "uuid" })}
     ${eachGrant("requested.folder_id")}
     LEFT JOIN LATERAL (
       SELECT key_version FROM folders WHERE id = requested.folder_id AND g.permission IS NOT NULL LIMIT 1
     ) f ON true`,
  );
  const receipt = database.preparedEach<GrantedReceipt>(
    "read-receipts",
    `SELECT ${eachClientColumns}, g.permission, f.key_version AS folder_key_version, s.uid, s.folder_id, s.record_type,
       s.created_at, s.updated_at, s.version, s.key_version, s.expires_at
     ${eachClient({ uid: "text" })}
     ${namedSecret}
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
  const clientValues = ({ clientId, ip, now }: CallingClient) => [clientId, now.toISOString(), ip];

  return {
    secret: async (calling: CallingClient, uid: string) => unchecked(await secret([...clientValues(calling), uid])),
    field: async (calling: CallingClient, uid: string, name: string) =>
      unchecked(await field([...clientValues(calling), uid, name])),
    notation: async (calling: CallingClient, { folder, title, field }: NotationQuery) =>
      unchecked(await notation([...clientValues(calling), folder.nameFolded ?? null, folder.id ?? null, title, field])),
    folder: async (calling: CallingClient, folderId: string) =>
      unchecked(await folder([...clientValues(calling), folderId])),
    receipt: async (calling: CallingClient, uid: string) => unchecked(await receipt([...clientValues(calling), uid])),
    client: async (calling: CallingClient) => unchecked(seenClient(await client(clientValues(calling)))),
    /**
     * A digest of everything that the client can see; `folderId` is the folder that the request
     * names.
     */
    digest: async (calling: CallingClient, folderId: string | undefined) =>
      unchecked(first(await digest([...clientValues(calling), folderId ?? null]))),
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
