import { createHash, randomBytes, randomUUID } from "node:crypto";
import type pg from "pg";
import { newKeyPair } from "../support/machines.ts";
import { jwe, sealedWith } from "../support/rotation.ts";

/** What requests are about: of each kind an id for each word that the tables use for it. */
export interface Targets {
  folder: Record<"granted" | "other", string>;
  application: Record<"ours" | "other", string>;
  client: Record<"ours" | "other" | "revoked", string>;
  token: Record<"ours" | "other" | "used", string>;
  person: Record<"member" | "owner" | "suspended" | "auditor" | "reader", string>;
  session: Record<"ours" | "other", string>;
  invite: Record<"ours" | "owner", string>;
  inviteToken: Record<"ours", string>;
  secret: Record<"ours" | "other", string>;
  /** Their names, by which a notation finds them. */
  folderName: Record<"granted" | "other", string>;
  title: Record<"ours" | "other", string>;
}

/** Who may use the folder "granted". */
export interface Grantees {
  people: readonly (readonly [userId: string, permission: string])[];
  machines: readonly (readonly [clientId: string, permission: string])[];
}

export const newUid = (): string => `A${randomBytes(15).toString("base64url")}A`;
/** As Postgres reads bytes. */
const hashOf = (text: string): string => `\\x${createHash("sha256").update(text).digest("hex")}`;
const { spki } = newKeyPair();

/** Makes all that an organization has to be asked about, as its endpoints would have stored it. */
export async function makeTargets(pool: pg.Pool, orgId: string, boss: string, grantees: Grantees): Promise<Targets> {
  const targets: Targets = {
    folder: mapped(["granted", "other"]),
    application: mapped(["ours", "other"]),
    client: mapped(["ours", "other", "revoked"]),
    token: mapped(["ours", "other", "used"]),
    person: mapped(["member", "owner", "suspended", "auditor", "reader"]),
    session: mapped(["ours", "other"]),
    invite: mapped(["ours", "owner"]),
    inviteToken: mapped(["ours"]),
    secret: { ours: newUid(), other: newUid() },
    // What may be an id is no name.
    folderName: { granted: `granted-${randomUUID()}`, other: `other-${randomUUID()}` },
    title: mapped(["ours", "other"]),
  };
  const known = await pool.query<{ row: object }>("SELECT to_jsonb(u) AS row FROM auth_sm.users u WHERE id = $1", [
    boss,
  ]);
  const rows = {
    ...rowsOfPeople(targets, orgId, known.rows[0]?.row ?? {}),
    ...rowsOfFolders(targets, orgId, boss, grantees),
    ...rowsOfMachines(targets, orgId, boss),
  };
  await insertRows(pool, rows);
  return targets;
}

type Rows = Record<string, readonly Record<string, unknown>[]>;

function rowsOfPeople({ person, session, invite, inviteToken }: Targets, orgId: string, like: object): Rows {
  const roles = { member: "member", owner: "owner", suspended: "member", auditor: "auditor", reader: "member" };
  const words = Object.keys(roles) as (keyof typeof roles)[]; // its own keys
  const invited = { org_id: orgId, invited_by: (like as { id: string }).id, ...times() };
  return {
    users: words.map((word) => ({ ...like, id: person[word], email: `${person[word]}@example.com` })),
    memberships: words.map((word) => ({
      org_id: orgId,
      user_id: person[word],
      role: roles[word],
      status: word === "suspended" ? "suspended" : "active",
      joined_at: new Date(),
    })),
    sessions: [sessionRow(session.ours, person.member), sessionRow(session.other, person.owner)],
    invites: [
      { id: invite.ours, email: `${invite.ours}@example.com`, role: "member", token_hash: hashOf(inviteToken.ours) },
      { id: invite.owner, email: `${invite.owner}@example.com`, role: "owner", token_hash: hashOf(invite.owner) },
    ].map((row) => ({ ...row, ...invited })),
  };
}

function rowsOfFolders(targets: Targets, orgId: string, boss: string, grantees: Grantees): Rows {
  const { folder, folderName, person, client, secret, title } = targets;
  const present = { org_id: orgId, key_version: 1, created_at: new Date(), updated_at: new Date() };
  const people = [...grantees.people, [person.reader, "read"] as const];
  const machines = [...grantees.machines, [client.ours, "read"] as const];
  const content = { title_encrypted: sealedWith(1), encrypted_payload: sealedWith(1), wrapped_dek: sealedWith(1) };
  const fields = { fields: { password: sealedWith(1) }, field_names: ["password"], record_type: "login", version: 1 };
  return {
    folders: (["granted", "other"] as const).map((word) => ({
      id: folder[word],
      name: folderName[word],
      name_folded: folderName[word],
      ...present,
    })),
    folder_members: [
      ...[folder.granted, folder.other].map((folder_id) => grant({ folder_id, user_id: boss }, "manage")),
      ...people.map(([user_id, permission]) => grant({ folder_id: folder.granted, user_id }, permission)),
    ],
    client_folders: machines.map(([client_id, permission]) =>
      grant({ folder_id: folder.granted, client_id }, permission),
    ),
    secrets: (["ours", "other"] as const).map((word) => ({
      uid: secret[word],
      folder_id: folder[word === "ours" ? "granted" : "other"],
      title: title[word],
      title_folded: title[word],
      ...content,
      ...fields,
      ...present,
    })),
  };
}

function rowsOfMachines({ application, client, token }: Targets, orgId: string, boss: string): Rows {
  const org = { org_id: orgId, created_at: new Date() };
  const of = (word: string): string => application[word === "other" ? "other" : "ours"];
  return {
    applications: Object.values(application).map((id) => ({ id, name: id, name_folded: id, description: "", ...org })),
    clients: Object.entries(client).map(([word, id]) => ({
      id,
      application_id: of(word),
      name: "a machine",
      public_key: spki,
      revoked_at: word === "revoked" ? new Date() : null,
      ...org,
    })),
    access_tokens: Object.entries(token).map(([word, id]) => ({
      id,
      application_id: of(word),
      name: "a token",
      token_hash: hashOf(id),
      used_at: word === "used" ? new Date() : null,
      created_by: boss,
      ...org,
      ...times(),
    })),
  };
}

/** Inserts the rows of several tables at once, so that their order does not matter. */
async function insertRows(pool: pg.Pool, rows: Rows): Promise<void> {
  const parts = Object.entries(rows).map(([table, [row = {}]], index) => {
    const columns = Object.keys(row).join(", ");
    const from = `json_populate_recordset(NULL::auth_sm.${table}, $${index + 1})`;
    return `i${index} AS (INSERT INTO auth_sm.${table} (${columns}) SELECT ${columns} FROM ${from})`;
  });
  const values = Object.values(rows).map((list) => JSON.stringify(list));
  await pool.query(`WITH ${parts.join(", ")} SELECT`, values);
}

/** A session of a person, without tokens. */
export async function addSession(pool: pg.Pool, userId: string): Promise<string> {
  const id = randomUUID();
  await insertRows(pool, { sessions: [sessionRow(id, userId)] });
  return id;
}

/** The token of an open invitation of an organization. */
export async function addInvite(pool: pg.Pool, orgId: string, boss: string, email: string): Promise<string> {
  const [id, token] = [randomUUID(), randomUUID()];
  await pool.query("DELETE FROM auth_sm.invites WHERE org_id = $1 AND email = $2", [orgId, email]);
  const row = { id, org_id: orgId, email, role: "member", token_hash: hashOf(token), invited_by: boss, ...times() };
  await insertRows(pool, { invites: [row] });
  return token;
}

function times(): { created_at: Date; expires_at: Date } {
  const now = new Date();
  return { created_at: now, expires_at: new Date(now.getTime() + 86_400_000) };
}

function sessionRow(id: string, user_id: string): Record<string, unknown> {
  const device = { device_id: "d", device_name: "d", device_type: "cli", ip: "127.0.0.1" };
  const used = { rotated_at: new Date(), last_used_at: new Date(), ...times() };
  return { id, user_id, generation: 1, refresh_hash: hashOf(id), ...device, ...used };
}

function grant(about: object, permission: string): Record<string, unknown> {
  return { ...about, permission, encrypted_key: jwe, encrypted_key_alg: "jwe", added_at: new Date() };
}

function mapped<Word extends string>(words: readonly Word[]): Record<Word, string> {
  return Object.fromEntries(words.map((word) => [word, randomUUID()])) as Record<Word, string>; // a new id for each
}
