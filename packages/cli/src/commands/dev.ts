import { randomBytes } from "node:crypto";
import { type ServiceName, serviceNames } from "@coffer/events";
import type { Call } from "../command-row.ts";
import { natsUsers, schemas } from "../dev/store-users.ts";
import { usage } from "../failure.ts";
import { printExact, printJson } from "../output/output.ts";

interface SecretOptions {
  release: string;
  name: string;
  json?: boolean;
}

const objectName = /^[a-z0-9]([-a-z0-9]*[a-z0-9])?$/;

/**
 * `coffer dev secrets`: a Secret with new passwords of the chart's development stores, and the
 * addresses with them.
 */
export function devSecrets({ options }: Call<SecretOptions>): Promise<void> {
  for (const name of [options.release, options.name])
    if (!objectName.test(name)) throw usage(`${name} cannot be a name in Kubernetes: use a-z, 0-9 and -`);
  const stringData = secretKeys(options.release);
  const manifest = {
    apiVersion: "v1",
    kind: "Secret",
    metadata: { name: options.name, labels: { "app.kubernetes.io/part-of": "coffer" } },
    type: "Opaque",
    stringData,
  };
  if (options.json === true) printJson(manifest);
  else printExact(yamlLines(manifest).join("\n"));
  return Promise.resolve();
}

/** `coffer dev nats-config`: the users of a NATS server, with their passwords as variables. */
export function devNatsConfig({ options }: Call<{ json?: boolean }>): Promise<void> {
  if (options.json === true) printJson(natsUsers);
  else printExact(natsConfig());
  return Promise.resolve();
}

/**
 * The keys of services' variables are service and variable; those of stores are store and service.
 */
function secretKeys(release: string): Record<string, string> {
  const keys: Record<string, string> = {
    "postgres.password": newPassword(),
    "siem-forwarder.COFFER_SIEM_KEYS": randomBytes(32).toString("base64url"),
  };
  for (const service of serviceNames) {
    const [postgres, nats, redis] = [newPassword(), newPassword(), newPassword()];
    const schema = schemas[service];
    if (schema !== null) {
      keys[`postgres.${service}`] = postgres;
      keys[`${service}.COFFER_POSTGRES_URL`] = `postgres://${schema}:${postgres}@${release}-postgres:5432/coffer`;
    }
    keys[`nats.${service}`] = nats;
    keys[`${service}.COFFER_NATS_URL`] = `nats://${release}-nats:4222`;
    keys[`${service}.COFFER_NATS_CREDENTIALS`] = JSON.stringify({ [service]: { user: service, password: nats } });
    keys[`redis.${service}`] = redis;
    keys[`${service}.COFFER_REDIS_URL`] = `redis://${service}:${redis}@${release}-redis:6379`;
  }
  return keys;
}

/** NATS parses a variable like its configuration: a value that starts with a letter is a string. */
function newPassword(): string {
  return `p${randomBytes(24).toString("hex")}`;
}

/** A map of maps and strings as YAML. JSON strings are valid YAML. */
function yamlLines(value: object, indent = ""): string[] {
  return Object.entries(value).flatMap(([key, inner]: [string, unknown]) =>
    typeof inner === "object" && inner !== null
      ? [`${indent}${key}:`, ...yamlLines(inner, `${indent}  `)]
      : [`${indent}${key}: ${JSON.stringify(inner)}`],
  );
}

function natsConfig(): string {
  return [
    `max_payload: ${natsUsers.maxPayload}`,
    "authorization {",
    "  users: [",
    ...serviceNames.flatMap(userLines),
    "  ]",
    "}",
  ].join("\n");
}

function userLines(service: ServiceName): string[] {
  const { publish, subscribe, allowResponses } = natsUsers.users[service];
  return [
    "    {",
    `      user: "${service}"`,
    `      password: $PASSWORD_${service.toUpperCase().replaceAll("-", "_")}`,
    "      permissions: {",
    `        publish: ${allowList(publish)}`,
    `        subscribe: ${allowList(subscribe)}`,
    ...(allowResponses ? [`        allow_responses: { max: 1, expires: "${natsUsers.responseExpiry}" }`] : []),
    "      }",
    "    }",
  ];
}

// The server treats an empty list as "everything".
function allowList(subjects: readonly string[]): string {
  return subjects.length === 0 ? '{ deny: [">"] }' : `{ allow: ${JSON.stringify(subjects)} }`;
}
