import { readFileSync } from "node:fs";
import { resolve } from "node:path";
import { natsPermission, responseExpiry } from "@coffer/bus";
import { serviceNames } from "@coffer/events";
import { redisAclRules, redisPermission } from "@coffer/ratelimit";
import { format, resolveConfig } from "prettier";
import { stringify } from "yaml";
import { allServices, onBus } from "../../local/src/services/services.ts";
import { ruleGroups } from "./observability/alerts.ts";
import { dashboardJson, dashboards } from "./observability/dashboards.ts";
import { chart, checkout } from "./paths.ts";
import { readmeText } from "./readme.ts";

/** Since this version Redis and Valkey have separate read and write permissions. */
const redisVersion = 7;
/** The largest message that the server accepts: twice the limit of services. */
const maxPayload = 1024 * 1024;

/** The generated files, by path. A test compares them with the checkout. */
export async function generatedFiles(): Promise<Record<string, string>> {
  const files: Record<string, string> = {
    "charts/coffer/files/nats-users.json": json(natsUsersFile()),
    "charts/coffer/files/redis-users.json": json(redisUsersFile()),
    "charts/coffer/files/alerts.yaml": alertsFile(),
    ...Object.fromEntries(
      dashboards.map((one) => [`charts/coffer/files/dashboards/${one.id}.json`, json(dashboardJson(one))]),
    ),
    "charts/coffer/README.md": readmeText(),
    "packages/cli/src/dev/store-users.ts": commandFile(),
    "docs/operations/postgres.md": postgresPage(),
  };
  const formatted = Object.entries(files).map(async ([path, text]) => [path, await formatOf(path, text)] as const);
  return Object.fromEntries(await Promise.all(formatted));
}

async function formatOf(path: string, text: string): Promise<string> {
  const filepath = resolve(checkout, path);
  return format(text, { ...(await resolveConfig(filepath)), filepath });
}

/** The page with the present text of schema.sql. */
function postgresPage(): string {
  const page = readFileSync(resolve(checkout, "docs/operations/postgres.md"), "utf8");
  const sql = readFileSync(resolve(chart, "files/schema.sql"), "utf8");
  const block = `<!-- schema.sql -->\n\n\`\`\`sql\n${sql}\`\`\`\n\n<!-- /schema.sql -->`;
  return page.replace(/<!-- schema\.sql -->[^]*<!-- \/schema\.sql -->/, () => block);
}

function alertsFile(): string {
  const head = "# Written by npm run generate -w deploy/chart, from deploy/chart/src/observability.\n";
  return head + stringify({ groups: ruleGroups() }, { lineWidth: 0 });
}

function natsUsersFile() {
  const users = Object.fromEntries(serviceNames.map((name) => [name, natsPermission(name)]));
  return { maxPayload, responseExpiry, users };
}

function redisUsersFile() {
  return Object.fromEntries(serviceNames.map((name) => [name, redisAclRules(redisPermission(name), redisVersion)]));
}

/** The command uses no store, so its image has no store packages. */
function commandFile(): string {
  const schemas = Object.fromEntries(onBus(allServices).map(({ name, schema }) => [name, schema]));
  return [
    "// Written by npm run generate -w deploy/chart, from packages/bus and the list of services.",
    "",
    "/** The permissions of each service's user on NATS. */",
    `export const natsUsers = ${JSON.stringify(natsUsersFile())};`,
    "",
    "/** The schema and role of each service in Postgres. */",
    `export const schemas = ${JSON.stringify(schemas)};`,
    "",
  ].join("\n");
}

function json(value: unknown): string {
  return `${JSON.stringify(value, null, 2)}\n`;
}
