import { spawnSync } from "node:child_process";
import { existsSync } from "node:fs";
import { join } from "node:path";
import { unpackedCommand, unpackWithApt } from "@coffer/stores";
import { onPath } from "./helm.ts";
import { cache } from "./paths.ts";
import type { Route } from "./routes.ts";

/**
 * The command line of nginx: the one on the PATH, or the system's package, unpacked and not installed.
 * @throws Error that says what to install
 */
export async function nginx(report: (line: string) => void = () => undefined): Promise<string[]> {
  const found = onPath("nginx") ?? ["/usr/sbin/nginx"].find((path) => existsSync(path));
  if (found !== undefined) return [found];
  const folder = join(cache, "nginx");
  const command = unpackedCommand(folder, "nginx");
  if (existsSync(folder) && runs(command)) return command;
  const unpacked = await unpackWithApt("nginx", cache, report);
  if (unpacked.command !== null && runs(unpacked.command)) return unpacked.command;
  throw new Error(`nginx is needed, as the proxy of the chart's routes: install it. ${unpacked.problem}`);
}

function runs([program = "", ...rest]: string[]): boolean {
  return spawnSync(program, [...rest, "-v"], { stdio: "ignore" }).status === 0;
}

export interface NginxOptions {
  port: number;
  routes: readonly Route[];
  /** The addresses of the pods of each service. */
  endpoints: Readonly<Record<string, readonly string[]>>;
  /** Its writable folder. */
  directory: string;
}

const temporary = ["client_body", "proxy", "fastcgi", "uwsgi", "scgi"];

/** A configuration that routes requests as a gateway would. */
export function nginxConfig({ port, routes, endpoints, directory }: NginxOptions): string {
  return [
    "daemon off;",
    "master_process off;",
    `pid ${directory}/nginx.pid;`,
    `error_log ${directory}/error.log notice;`,
    "events { worker_connections 2048; }",
    "http {",
    "  # The query of the sync path holds a token.",
    `  log_format no_query '$remote_addr $request_method $uri $status';`,
    `  access_log ${directory}/access.log no_query;`,
    ...temporary.map((name) => `  ${name}_temp_path ${directory}/${name};`),
    "  map $http_upgrade $connection_upgrade { default upgrade; '' ''; }",
    ...Object.entries(endpoints).map(
      ([service, addresses]) =>
        `  upstream ${service} { ${addresses.map((address) => `server ${address};`).join(" ")} keepalive 32; }`,
    ),
    "  server {",
    `    listen 127.0.0.1:${port};`,
    "    client_max_body_size 33m;",
    "    proxy_http_version 1.1;",
    "    proxy_request_buffering off;",
    "    proxy_buffering off;",
    "    proxy_set_header Host $http_host;",
    "    proxy_set_header X-Forwarded-For $proxy_add_x_forwarded_for;",
    "    proxy_set_header Upgrade $http_upgrade;",
    "    proxy_set_header Connection $connection_upgrade;",
    ...routes.flatMap(locations),
    "  }",
    "}",
    "",
  ].join("\n");
}

/** A prefix matches the path itself and paths below it, by whole segments. */
function locations({ path, service, isLong }: Route): string[] {
  const timeout = isLong ? "24h" : "130s";
  const body = `{ proxy_pass http://${service}; proxy_read_timeout ${timeout}; proxy_send_timeout ${timeout}; }`;
  return [`    location = ${path} ${body}`, `    location ${path}/ ${body}`];
}
