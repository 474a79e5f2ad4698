import type { NatsUser } from "./permissions.ts";

export interface ServerConfigOptions {
  users: readonly NatsUser[];
  host: string;
  port: number;
  /** Bytes. Default 1 MiB. */
  maxPayload?: number | undefined;
}

/** How long a service may answer a request: longer than any request waits for its answer. */
export const responseExpiry = "1m";

/**
 * The configuration file of a NATS server (2.9 and newer) with these users only. Without JetStream:
 * the bus stores nothing. Throws `TypeError` for a user or password that the file cannot hold.
 */
export function natsServerConfig({ users, host, port, maxPayload = 1024 * 1024 }: ServerConfigOptions): string {
  return [
    `host: ${quoted(host)}`,
    `port: ${port}`,
    `max_payload: ${maxPayload}`,
    "authorization {",
    "  users: [",
    ...users.flatMap(userLines),
    "  ]",
    "}",
    "",
  ].join("\n");
}

function userLines({ user, password, publish, subscribe, allowResponses }: NatsUser): string[] {
  return [
    "    {",
    `      user: ${quoted(user)}`,
    `      password: ${quoted(password)}`,
    "      permissions: {",
    `        publish: ${allowList(publish)}`,
    `        subscribe: ${allowList(subscribe)}`,
    ...(allowResponses ? [`        allow_responses: { max: 1, expires: "${responseExpiry}" }`] : []),
    "      }",
    "    }",
  ];
}

// The server reads an empty allow-list as "everything".
const allowList = (subjects: readonly string[]): string =>
  subjects.length === 0 ? '{ deny: [">"] }' : `{ allow: [${subjects.map(quoted).join(", ")}] }`;

function quoted(text: string): string {
  // The server would read a password that begins like a bcrypt hash as one.
  if (!/^[\x21-\x7e]+$/.test(text) || /["\\]/.test(text) || /^\$2[abxy]\$/.test(text))
    throw new TypeError("a NATS configuration value must be printable ASCII without blanks, quotes and backslashes");
  return `"${text}"`;
}
