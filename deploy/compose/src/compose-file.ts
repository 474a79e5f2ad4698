import { isOnBus } from "@coffer/events";
import { onBus, type ServiceRow } from "../../local/src/services/services.ts";

/** The address of Caddy in the network of the services, their one trusted proxy. */
const proxyAddress = "172.30.80.2";
const frontSubnet = "172.30.80.0/24";

const hardened = [
  "    read_only: true",
  "    cap_drop: [ALL]",
  "    security_opt: [no-new-privileges:true]",
  "    restart: unless-stopped",
];

/** The text of compose.yaml for these services. */
export function composeFile(rows: readonly ServiceRow[]): string {
  const storing = rows.filter(({ schema }) => schema !== null);
  return [
    "# Written by `npm run compose -- --write`. Settings are in .env, passwords in secrets/: `npm run compose` makes both.",
    "name: coffer",
    "",
    "services:",
    ...rows.flatMap(serviceLines),
    ...storing.flatMap(migrationLines),
    ...storeLines,
    ...proxyLines(rows),
    "networks:",
    "  edge: {}",
    "  egress: {}",
    "  stores: { internal: true }",
    "  front:",
    "    internal: true",
    "    ipam: { config: [{ subnet: " + frontSubnet + " }] }",
    "",
    "volumes:",
    "  postgres: {}",
    "  caddy: {}",
    "",
    "secrets:",
    ...secretNames(rows).map((name) => `  ${name}: { file: ./secrets/${name} }`),
    "",
  ].join("\n");
}

/** The files in secrets/, one for each value that a container reads. */
export function secretNames(rows: readonly ServiceRow[]): string[] {
  return [
    "postgres-password",
    "postgres.sql",
    "nats.conf",
    "redis.conf",
    ...onBus(rows).flatMap(({ name, schema }) => [
      ...(schema === null ? [] : [`${name}.postgres-url`]),
      `${name}.nats-credentials`,
      `${name}.redis-url`,
      ...(name === "siem-forwarder" ? [`${name}.siem-keys`] : []),
    ]),
  ];
}

const image = (name: string): string =>
  `    image: \${COFFER_IMAGES:-localhost/coffer}/${name}:\${COFFER_VERSION:?run npm run compose}`;

function serviceLines({ name, schema }: ServiceRow): string[] {
  if (!isOnBus(name)) return aloneLines(name);
  const needs = [
    "      nats: { condition: service_started }",
    "      redis: { condition: service_started }",
    ...(schema === null ? [] : [`      ${name}-migration: { condition: service_completed_successfully }`]),
  ];
  return [
    `  ${name}:`,
    image(name),
    ...hardened,
    "    # A drain of 15 s, and 5 s to close.",
    "    stop_grace_period: 20s",
    "    environment:",
    "      COFFER_BASE_URL: https://${COFFER_DOMAIN:?run npm run compose}",
    `      COFFER_TRUSTED_PROXY_CIDRS: ${proxyAddress}/32`,
    '      COFFER_DRAIN_SECONDS: "15"',
    "      COFFER_BILLING: ${COFFER_BILLING:-off}",
    ...(name === "auth-sm" ? ["      COFFER_SIGNUPS: ${COFFER_SIGNUPS:-invite}"] : []),
    "      COFFER_NATS_URL: nats://nats:4222",
    `      COFFER_NATS_CREDENTIALS_FILE: /run/secrets/${name}.nats-credentials`,
    `      COFFER_REDIS_URL_FILE: /run/secrets/${name}.redis-url`,
    ...(schema === null ? [] : [`      COFFER_POSTGRES_URL_FILE: /run/secrets/${name}.postgres-url`]),
    ...ownLines(name),
    "    secrets:",
    ...(schema === null ? [] : [`      - ${name}.postgres-url`]),
    ...(name === "siem-forwarder" ? [`      - ${name}.siem-keys`] : []),
    `      - ${name}.nats-credentials`,
    `      - ${name}.redis-url`,
    "    depends_on:",
    ...needs,
    `    networks: [front, stores${name === "siem-forwarder" ? ", egress" : ""}]`,
    ...healthLines,
  ];
}

const healthLines = [
  "    healthcheck:",
  "      test: [CMD, node, -e, \"fetch('http://127.0.0.1:9090/readyz').then((r) => process.exit(r.ok ? 0 : 1))\"]",
  "      interval: 10s",
  "      timeout: 5s",
  "      start_period: 30s",
  "",
];

/** A service without stores: it reaches nothing, and only the proxy reaches it. */
function aloneLines(name: string): string[] {
  return [
    `  ${name}:`,
    image(name),
    ...hardened,
    "    # A drain of 15 s, and 5 s to close.",
    "    stop_grace_period: 20s",
    "    environment:",
    '      COFFER_DRAIN_SECONDS: "15"',
    "    networks: [front]",
    ...healthLines,
  ];
}

/** The settings of one service. */
function ownLines(name: ServiceRow["name"]): string[] {
  if (name === "siem-forwarder")
    return [
      `      COFFER_SIEM_KEYS_FILE: /run/secrets/${name}.siem-keys`,
      "      COFFER_SIEM_ALLOWED_CIDRS: ${COFFER_SIEM_ALLOWED_CIDRS:-}",
    ];
  if (name === "billing-webhook")
    return ["COFFER_STRIPE_WEBHOOK_SECRETS", "COFFER_STRIPE_PRICES"].map((each) => `      ${each}: \${${each}:-}`);
  return [];
}

function migrationLines({ name }: ServiceRow): string[] {
  return [
    `  ${name}-migration:`,
    image(name),
    ...hardened.slice(0, -1),
    '    restart: "no"',
    '    command: [node, src/migrate-main.ts, --wait, "120"]',
    "    environment:",
    `      COFFER_POSTGRES_URL_FILE: /run/secrets/${name}.postgres-url`,
    `    secrets: [${name}.postgres-url]`,
    "    depends_on:",
    "      postgres: { condition: service_healthy }",
    "    networks: [stores]",
    "",
  ];
}

const storeLines = [
  "  postgres:",
  "    image: docker.io/library/postgres:18-alpine",
  "    restart: unless-stopped",
  "    stop_grace_period: 60s",
  "    environment:",
  "      POSTGRES_DB: coffer",
  "      POSTGRES_PASSWORD_FILE: /run/secrets/postgres-password",
  "    secrets:",
  "      - postgres-password",
  "      - source: postgres.sql",
  "        target: /docker-entrypoint-initdb.d/postgres.sql",
  "    volumes: [postgres:/var/lib/postgresql]",
  "    networks: [stores]",
  "    healthcheck:",
  "      # Over TCP: the server that runs the scripts of a new database listens on a socket alone.",
  "      test: [CMD, pg_isready, --host=127.0.0.1, --username=postgres]",
  "      interval: 5s",
  "      timeout: 5s",
  "      retries: 24",
  "",
  "  nats:",
  "    image: docker.io/library/nats:2-alpine",
  '    user: "65532:65532"',
  ...hardened,
  "    command: [nats-server, --config, /run/secrets/nats.conf]",
  "    secrets: [nats.conf]",
  "    networks: [stores]",
  "",
  "  redis:",
  "    image: docker.io/valkey/valkey:8-alpine",
  '    user: "65532:65532"',
  ...hardened,
  "    entrypoint: [valkey-server, /run/secrets/redis.conf]",
  "    secrets: [redis.conf]",
  "    networks: [stores]",
  "",
];

function proxyLines(rows: readonly ServiceRow[]): string[] {
  return [
    "  caddy:",
    "    image: docker.io/library/caddy:2-alpine",
    "    restart: unless-stopped",
    '    ports: ["80:80", "443:443", "443:443/udp"]',
    "    environment:",
    "      COFFER_DOMAIN: ${COFFER_DOMAIN:?run npm run compose}",
    "    volumes:",
    "      - ./Caddyfile:/etc/caddy/Caddyfile:ro",
    "      - caddy:/data",
    "    depends_on:",
    ...rows.map(({ name }) => `      ${name}: { condition: service_started }`),
    "    networks:",
    "      edge: {}",
    `      front: { ipv4_address: ${proxyAddress} }`,
    "",
  ];
}

/** The text of the Caddyfile: the path table, the longest path first, as Caddy uses the first match. */
export function caddyFile(rows: readonly ServiceRow[]): string {
  const table = rows
    .flatMap(({ name, paths }) => paths.map((path) => ({ name, path })))
    .sort((a, b) => b.path.length - a.path.length || (a.path < b.path ? -1 : 1));
  const [rest] = table.filter(({ path }) => path === "/");
  const routes = table.flatMap(({ name, path }) => {
    if (path === "/") return [];
    const matcher = `@${path
      .replace(/[^a-z]+/g, " ")
      .trim()
      .replaceAll(" ", "-")}`;
    return [`\t${matcher} path ${path} ${path}/*`, `\thandle ${matcher} {`, `\t\treverse_proxy ${name}:8080`, "\t}"];
  });
  return [
    "# Written by `npm run compose -- --write`. Caddy gets the certificate of COFFER_DOMAIN by itself.",
    "{$COFFER_DOMAIN} {",
    ...routes,
    "\thandle {",
    `\t\treverse_proxy ${rest?.name ?? ""}:8080`,
    "\t}",
    "}",
    "",
  ].join("\n");
}
