import { randomBytes } from "node:crypto";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { onBus, presentServices, type ServiceRow } from "../../local/src/services/services.ts";
import { command } from "../../../packages/cli/test/command.ts";
import { chart } from "../../chart/src/paths.ts";
import { apply, listOf, run } from "./kube.ts";
import type { Store } from "../../docker/src/store-images.ts";

/** Where the stores of a platform team are: another namespace. */
export const storesNamespace = "coffer-test-stores";

/** The services with a Secret: the console needs no store. */
export const storedServices = onBus(presentServices());

const ports: Record<Store, number> = { postgres: 5432, nats: 4222, redis: 6379 };
const userIds: Record<Store, number> = { postgres: 999, nats: 65532, redis: 999 };
const superuser = "owner-of-the-cluster-under-test";
const hostOf = (store: Store): string => `${store}.${storesNamespace}.svc.cluster.local`;
const authority = (service: ServiceRow, password: string, store: Store, user = service.name as string): string =>
  `${user}:${password}@${hostOf(store)}:${ports[store]}`;

export interface OwnStores {
  /**
   * Makes an empty database with a role and a schema for each service, as
   * docs/operations/postgres.md says.
   */
  makeDatabase(name: string): Promise<void>;
  /**
   * Writes the Secret of each service, as docs/operations/install.md says; the services use this
   * database.
   */
  writeSecrets(database: string): Promise<void>;
}

/** Starts Postgres, NATS and Redis with the users of the documentation. */
export async function startOwnStores(images: Readonly<Record<Store, string>>): Promise<OwnStores> {
  await removeOwnStores();
  // A password of NATS begins with a letter.
  const passwords = Object.fromEntries(storedServices.map(({ name }) => [name, `p${randomBytes(16).toString("hex")}`]));
  const passwordOf = ({ name }: ServiceRow): string => passwords[name] ?? "";
  const siemKey = randomBytes(32).toString("base64url");
  const metadata = { namespace: storesNamespace };
  const objects = [
    { apiVersion: "v1", kind: "Namespace", metadata: { name: storesNamespace } },
    {
      apiVersion: "v1",
      kind: "ConfigMap",
      metadata: { ...metadata, name: "configuration" },
      data: { "nats.conf": await natsConfiguration(), "users.acl": redisUsers(passwordOf) },
    },
    ...(["postgres", "nats", "redis"] as const).flatMap((store) => [
      {
        apiVersion: "v1",
        kind: "Service",
        metadata: { ...metadata, name: store },
        spec: { selector: { store }, ports: [{ port: ports[store] }] },
      },
      {
        apiVersion: "apps/v1",
        kind: "Deployment",
        metadata: { ...metadata, name: store },
        spec: {
          selector: { matchLabels: { store } },
          strategy: { type: "Recreate" },
          template: {
            metadata: { labels: { store } },
            spec: {
              securityContext: { runAsUser: userIds[store], runAsGroup: userIds[store], fsGroup: userIds[store] },
              containers: [{ ...containerOf(store, passwordOf), name: store, image: images[store] }],
              volumes: [
                { name: "configuration", configMap: { name: "configuration" } },
                { name: "data", emptyDir: {} },
              ],
            },
          },
        },
      },
    ]),
  ];
  await inStores(["apply", "--filename", "-"], listOf(objects));
  await inStores(["rollout", "status", "deployment", "--timeout=120s"]);
  return {
    async makeDatabase(name) {
      await psql("postgres", `CREATE DATABASE "${name}"`);
      const sql = readFileSync(join(chart, "files/schema.sql"), "utf8");
      for (const service of storedServices.filter(({ schema }) => schema !== null)) {
        const { schema } = service;
        const options = `-c coffer.role=${schema} -c coffer.schema=${schema} -c coffer.password=${passwordOf(service)}`;
        await psql(name, sql, options);
      }
    },
    async writeSecrets(database) {
      await apply(
        ...storedServices.map((service) => ({
          apiVersion: "v1",
          kind: "Secret",
          metadata: { name: secretOf(service.name) },
          stringData: {
            COFFER_NATS_URL: `nats://${hostOf("nats")}:${ports.nats}`,
            COFFER_NATS_CREDENTIALS: JSON.stringify({
              [service.name]: { user: service.name, password: passwordOf(service) },
            }),
            COFFER_REDIS_URL: `redis://${authority(service, passwordOf(service), "redis")}`,
            ...(service.schema === null
              ? {}
              : {
                  COFFER_POSTGRES_URL: `postgres://${authority(service, passwordOf(service), "postgres", service.schema)}/${database}`,
                }),
            ...(service.name === "siem-forwarder" ? { COFFER_SIEM_KEYS: siemKey } : {}),
          },
        })),
      );
    },
  };
}

/** The name of a service's Secret. */
export const secretOf = (service: string): string => `coffer-${service}`;

/** Removes the namespace of the stores. */
export async function removeOwnStores(): Promise<void> {
  await run("kubectl", ["delete", "namespace", storesNamespace, "--ignore-not-found", "--wait", "--timeout=120s"]);
}

function containerOf(store: Store, passwordOf: (service: ServiceRow) => string): object {
  const configuration = { name: "configuration", mountPath: "/etc/stores", readOnly: true };
  const common = {
    ports: [{ containerPort: ports[store] }],
    readinessProbe: { tcpSocket: { port: ports[store] }, periodSeconds: 1 },
  };
  switch (store) {
    case "postgres":
      return {
        ...common,
        env: [
          { name: "POSTGRES_DB", value: "postgres" },
          { name: "POSTGRES_PASSWORD", value: superuser },
          { name: "PGDATA", value: "/var/lib/postgresql/coffer" },
        ],
        volumeMounts: [{ name: "data", mountPath: "/var/lib/postgresql" }],
      };
    case "nats":
      return {
        ...common,
        args: ["--config", "/etc/stores/nats.conf"],
        env: storedServices.map((service) => ({
          name: `PASSWORD_${service.name.toUpperCase().replaceAll("-", "_")}`,
          value: passwordOf(service),
        })),
        volumeMounts: [configuration],
      };
    case "redis":
      return {
        ...common,
        args: ["--port", "6379", "--save", "", "--dir", "/tmp", "--aclfile", "/etc/stores/users.acl"],
        volumeMounts: [configuration],
      };
  }
}

/** The users that the command prints, in a server's configuration. */
async function natsConfiguration(): Promise<string> {
  return `port: ${ports.nats}\n${await run(command, ["dev", "nats-config"])}`;
}

/** The file of users of docs/operations/nats-and-redis.md. */
function redisUsers(passwordOf: (service: ServiceRow) => string): string {
  const rules = JSON.parse(readFileSync(join(chart, "files/redis-users.json"), "utf8")) as Record<string, string[]>;
  const users = storedServices.map((service) =>
    ["user", service.name, "reset on", `>${passwordOf(service)}`, ...(rules[service.name] ?? [])].join(" "),
  );
  return `${["user default reset off", ...users].join("\n")}\n`;
}

/** Runs SQL in the pod of Postgres, as the owner of everything. */
async function psql(database: string, sql: string, options = ""): Promise<string> {
  const url = `postgres://postgres:${superuser}@127.0.0.1:${ports.postgres}/${database}`;
  const program = ["env", `PGOPTIONS=${options}`, "psql", url, "--quiet", "--variable=ON_ERROR_STOP=1"];
  return inStores(["exec", "--stdin", "deployment/postgres", "--", ...program], sql);
}

function inStores(args: readonly string[], input?: string): Promise<string> {
  return run("kubectl", ["--namespace", storesNamespace, ...args], { input });
}
