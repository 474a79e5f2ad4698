import { checkedFetch } from "@coffer/openapi";

/** The fields that tests look at one by one. Which of them an answer has is what the tests are about. */
export interface AnswerBody {
  error: string;
  message: string;
  request_id: string;
  details: { field: string; issue: string }[];
  data: AnswerBody[];
  next_cursor: string | null;
  id: string;
  name: string;
  description: string;
  status: string;
  created_at: string;
  updated_at: string;
  expires_at: string;
  // Accounts and sessions.
  login_id: string;
  login_response: string;
  registration_response: string;
  access_token: string;
  refresh_token: string;
  refresh_expires_in: number;
  device_credential: string;
  session_id: string;
  encrypted_user_key: string;
  user: { id: string; name: string };
  /** At least one, where tests look for it. */
  organizations: [OrgItem, ...OrgItem[]];
  totp_enabled: boolean;
  secret: string;
  otpauth_url: string;
  recovery_codes: string[];
  recovery_id: string;
  keys: { kid: string; kty: string; crv: string; x: string; y: string }[];
  base_urls: string[];
  // Organizations, folders, machines.
  org_id: string;
  user_id: string;
  email: string;
  role: string;
  permission: string | null;
  added_at: string;
  encrypted_key: string | null;
  encrypted_key_alg: string | null;
  key_version: number;
  token: string;
  application_id: string;
  client_id: string;
  allowed_cidrs: string[] | null;
  last_ip: string | null;
  last_used_at: string | null;
  encrypted_folder_keys: Record<string, string>;
  folders: { id: string; name: string; permission: string; key_sealed?: boolean }[];
  // Histories.
  history_seq: number | null;
  hash: string;
  has_key: boolean;
  tag: string | null;
  sealed: string;
  // Secrets.
  uid: string;
  folder_id: string;
  record_type: string;
  title: string;
  title_encrypted: string;
  data_encrypted: string;
  wrapped_dek: string;
  field_names: string[];
  version: number;
  field: string;
  fields: Record<string, string>;
  folder: string;
  secret_uid: string;
  value_encrypted: string;
}

interface OrgItem {
  id: string;
  role: string;
  status: string;
}

/** An answer as a client sees it. */
export interface Answer {
  status: number;
  headers: Headers;
  body: AnswerBody;
}

export interface CallOptions {
  token?: string | undefined;
  body?: unknown;
  headers?: Record<string, string>;
}

/**
 * One request to a running service. A body that is a string is sent as it is, everything else as
 * JSON. No body: `{}`.
 * @throws DescriptionError when the answer, or a request that was accepted, is not as docs/spec/api
 *   describes it
 */
export async function call(
  service: { url: string },
  method: string,
  path: string,
  { token, body, headers = {} }: CallOptions = {},
): Promise<Answer> {
  const response = await checkedFetch(service.url + path, {
    method,
    headers: {
      ...(token === undefined ? {} : { authorization: `Bearer ${token}` }),
      ...(body === undefined ? {} : { "content-type": "application/json" }),
      ...headers,
    },
    ...(body === undefined ? {} : { body: typeof body === "string" ? body : JSON.stringify(body) }),
  });
  const text = await response.text();
  const parsed: unknown = text === "" ? {} : JSON.parse(text);
  return { status: response.status, headers: response.headers, body: parsed as AnswerBody }; // see AnswerBody
}
