import { checkedFetch } from "@coffer/openapi";
import type { Person } from "./people.ts";

/** The fields that tests read. Each response has some of them. */
export interface AnswerBody {
  error: string;
  message: string;
  request_id: string;
  details: { field: string; issue: string }[];
  data: AnswerBody[];
  next_cursor: string | null;
  id: string;
  org_id: string | null;
  name: string;
  email: string;
  type: string;
  created_at: string;
  updated_at: string;
  record_count: number;
  safe_for_travel: boolean;
  permission: string;
  key_version: number;
  encrypted_key: string;
  encrypted_key_alg: string;
  history_seq: number | null;
  user_id: string;
  added_at: string;
  vault_id: string;
  encrypted_data: string;
  imported: number;
  failed: number;
  records: { id: string; type: string }[];
  errors: { index: number; issue: string }[];
}

/** A response as a client sees it. */
export interface Answer {
  status: number;
  headers: Headers;
  body: AnswerBody;
}

export interface CallOptions {
  body?: unknown;
  headers?: Record<string, string>;
}

/**
 * One request to a running service, by a person or without a token. A string body is sent as it is,
 * another one as JSON. Without a body: `{}`.
 * @throws DescriptionError if the response, or an accepted request, is not as docs/spec/api describes
 */
export async function call(
  service: { url: string },
  person: Pick<Person, "token"> | undefined,
  method: string,
  path: string,
  { body, headers = {} }: CallOptions = {},
): Promise<Answer> {
  const response = await checkedFetch(service.url + path, {
    method,
    headers: {
      ...(person === undefined ? {} : { authorization: `Bearer ${person.token}` }),
      ...(body === undefined ? {} : { "content-type": "application/json" }),
      ...headers,
    },
    ...(body === undefined ? {} : { body: typeof body === "string" ? body : JSON.stringify(body) }),
  });
  const text = await response.text();
  const parsed: unknown = text === "" ? {} : JSON.parse(text);
  return { status: response.status, headers: response.headers, body: parsed as AnswerBody }; // see AnswerBody
}
