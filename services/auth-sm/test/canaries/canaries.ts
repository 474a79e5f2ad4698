import type { Exchange } from "./recorder.ts";

// Where a value of the wire may be kept, by the name of its field. What is not named may be kept nowhere.
const secretColumns = "secrets.encrypted_payload staged_secrets.encrypted_payload";
const folderKeys =
  "folder_members.encrypted_key client_folders.encrypted_key access_token_folders.encrypted_folder_key";
// A token's hash is the tag of an invitation, which the history publishes.
const tokenHashes = "access_tokens.token_hash invites.token_hash clients.token_hash histories.state";
const homes: Readonly<Record<string, string>> = {
  registration_record: "users.registration_record",
  encrypted_user_key: "users.encrypted_user_key users.recovery_encrypted_user_key",
  encrypted_private_key: "users.encrypted_private_key",
  proof_hash: "users.recovery_proof_hash",
  encrypted_key: folderKeys,
  encrypted_folder_key: folderKeys,
  encrypted_folder_keys: folderKeys,
  encrypted_payload: secretColumns,
  data_encrypted: secretColumns,
  wrapped_dek: "secrets.wrapped_dek staged_secrets.wrapped_dek",
  title: "secrets.title secrets.title_folded",
  title_encrypted: "secrets.title_encrypted staged_secrets.title_encrypted",
  fields: "secrets.fields staged_secrets.fields",
  value_encrypted: "secrets.fields",
  token_hash: tokenHashes,
  tag: tokenHashes,
  entry: "history_entries.entry",
  keyring: "keyrings.sealed",
  sealed: "keyrings.sealed",
  registration_request: "",
  registration_response: "",
  start_login_request: "",
  login_response: "",
  finish_login_request: "",
  access_token: "",
  refresh_token: "",
  device_credential: "",
  token: "",
  proof: "",
  otp: "",
  secret: "",
  otpauth_url: "",
  recovery_codes: "",
  notation: "",
  authorization: "",
  cookie: "",
  query: "",
  text: "",
};

/** A value that must be found nowhere but at home. */
export interface Canary {
  field: string;
  value: string;
  /** Columns, as `table.column`. */
  homes: ReadonlySet<string>;
  /** As which it could be found: as it is, quoted if it is short, or in another code. */
  forms: readonly string[];
}

// Shorter texts occur by chance.
const shortest = 10;

/** All secret values of the exchanges. */
export function canariesOf(exchanges: readonly Exchange[]): Canary[] {
  const found = new Map<string, { field: string; homes: Set<string> }>();
  const add = (field: string, value: string): void => {
    const canary = found.get(value) ?? { field, homes: new Set() };
    for (const home of (homes[field] ?? "").split(" ")) canary.homes.add(home);
    found.set(value, canary);
  };
  for (const { headers, path, request, answer } of exchanges) {
    for (const name of ["authorization", "cookie"]) if (headers[name]) add(name, headers[name].replace(/^\w+ /, ""));
    for (const [name, value] of new URL(path, "http://localhost").searchParams)
      add(name in homes ? name : "query", value);
    for (const text of [request, answer]) collect(parsed(text), undefined, add);
  }
  return [...found]
    .filter(([value, { field }]) => value.length >= shortest || field === "otp")
    .map(([value, canary]) => ({ ...canary, value, forms: formsOf(value) }));
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text) as unknown;
  } catch {
    return { text };
  }
}

function collect(value: unknown, field: string | undefined, add: (field: string, value: string) => void): void {
  if (typeof value === "string") {
    if (field !== undefined) add(field, value);
  } else if (Array.isArray(value)) {
    for (const item of value) collect(item, field, add);
  } else if (typeof value === "object" && value !== null) {
    // What is below a field of the list belongs to it, whatever its own name.
    for (const [name, item] of Object.entries(value)) collect(item, name in homes ? name : field, add);
  }
}

function formsOf(value: string): string[] {
  if (value.length < shortest) return [`"${value}"`, `\\"${value}\\"`];
  const bytes = Buffer.from(value);
  const forms = [value, encodeURIComponent(value), bytes.toString("hex"), bytes.toString("base64")];
  // What is base64 already, as the bytes that it stands for.
  if (/^[\w+/-]{16,}={0,2}$/.test(value)) forms.push(Buffer.from(value, "base64").toString("hex"));
  return [...new Set(forms)];
}

/** The canaries that a text holds; for a report without their values. */
export function seenIn(text: string, canaries: readonly Canary[]): Canary[] {
  return canaries.filter(({ forms }) => forms.some((form) => text.includes(form)));
}
