import { spawnSync } from "node:child_process";
import { chownSync, existsSync, mkdirSync, readdirSync, rmSync } from "node:fs";
import { delimiter, dirname, join, resolve } from "node:path";
import { unpackedCommand, unpackWithApt } from "./apt.ts";
import { checkoutCache } from "./cache-directory.ts";
import type { LocateOptions } from "./locate.ts";
import { reachableBinaries } from "./reachable-programs.ts";
import { runServer } from "./run-server.ts";
import { asServerUser, serverUser, writeServerFile } from "./server-user.ts";
import { openStoreDirectory } from "./store-directory.ts";
import { type Store, StoreError } from "./store.ts";

/** Server and client programs of one version of Postgres, which only tests need. */
export interface PostgresTools {
  /** The folder with the programs. */
  folder: string;
  /** The environment of the programs. */
  env: Record<string, string>;
}

const programs = ["postgres", "initdb", "psql", "pg_dump", "pg_restore"];
/** The oldest version that Coffer works with. */
const oldest = 15;

/**
 * Finds the server and the client programs of one version: in a folder of the PATH, where systems
 * keep them, or in the system's own packages, unpacked to the checkout's cache. Throws StoreError.
 */
export async function locatePostgresTools({
  cacheDirectory = checkoutCache,
  report = () => undefined,
}: LocateOptions = {}): Promise<PostgresTools> {
  const folders = [...(process.env["PATH"] ?? "").split(delimiter), ...versioned("/usr/lib/postgresql")];
  const installed = folders.map((folder) => ({ folder, env: {} })).find(runs);
  if (installed !== undefined) return installed;
  const unpacked = resolve(cacheDirectory, "postgres");
  if (existsSync(unpacked) && runs(toolsIn(unpacked))) return toolsIn(unpacked);
  rmSync(unpacked, { recursive: true, force: true });
  const { command, problem } = await unpackWithApt("postgres", cacheDirectory, report);
  if (command === null) throw new StoreError(`the programs of Postgres ${oldest} or newer are missing: ${problem}`);
  return toolsIn(unpacked);
}

/** The folders of each version below Debian's place, the newest first. */
function versioned(place: string): string[] {
  if (!existsSync(place)) return [];
  const versions = readdirSync(place).sort((one, other) => Number(other) - Number(one));
  return versions.map((version) => join(place, version, "bin"));
}

function toolsIn(unpacked: string): PostgresTools {
  const command = unpackedCommand(unpacked, "postgres");
  const libraries = command.find((word) => word.startsWith("LD_LIBRARY_PATH="))?.slice("LD_LIBRARY_PATH=".length);
  return {
    folder: dirname(command.at(-1) ?? ""),
    env: libraries === undefined ? {} : { LD_LIBRARY_PATH: libraries },
  };
}

function runs({ folder, env }: PostgresTools): boolean {
  if (folder === "" || !programs.every((name) => existsSync(join(folder, name)))) return false;
  const said = programs.map(
    (name) =>
      spawnSync(join(folder, name), ["--version"], {
        encoding: "utf8",
        timeout: 10_000,
        env: { ...process.env, ...env },
      }).stdout,
  );
  const versions = new Set(said.map((text) => Number(/ (\d+)[.b]/.exec(text)?.[1] ?? 0)));
  return versions.size === 1 && [...versions].every((version) => version >= oldest);
}

export interface ImageOptions {
  tools: PostgresTools;
  /** Belongs to this server alone; made when missing. */
  directory: string;
  /** The image's variables: POSTGRES_DB, and POSTGRES_PASSWORD or POSTGRES_HOST_AUTH_METHOD=trust. */
  env: Readonly<Record<string, string>>;
  /** The arguments of the container, for the server. */
  args?: readonly string[];
  /** A free one when missing. */
  port?: number;
}

/**
 * Starts a server on 127.0.0.1 as the official image does: it makes the database cluster and the
 * database at the first start. The superuser is `postgres`. Throws StoreError.
 */
export async function startPostgresImage(options: ImageOptions): Promise<Store> {
  const { tools, directory, env, args = [], port } = options;
  const here = openStoreDirectory(directory);
  const data = join(here, "data");
  const trust = env["POSTGRES_HOST_AUTH_METHOD"] === "trust";
  const password = env["POSTGRES_PASSWORD"] ?? "";
  const database = env["POSTGRES_DB"] ?? "postgres";
  if (!trust && password === "") throw new StoreError("the image needs POSTGRES_PASSWORD");
  const at = (name: string): string => join(tools.folder, name);
  const binaries = reachableBinaries({ initdb: at("initdb"), postgres: at("postgres") }, here);
  const withEnvironment = (command: string[]): string[] => [
    "/usr/bin/env",
    ...Object.entries(tools.env).map(([name, value]) => `${name}=${value}`),
    ...command,
  ];
  if (!existsSync(data)) {
    mkdirSync(data, { mode: 0o700 });
    const user = serverUser();
    if (user !== null) chownSync(data, user.uid, user.gid);
    const secret = join(here, "password");
    writeServerFile(secret, `${password}\n`);
    const how = trust ? ["--auth=trust"] : ["--auth=scram-sha-256", `--pwfile=${secret}`];
    const init = [binaries.initdb, `--pgdata=${data}`, "--username=postgres", "--locale=C", "--encoding=UTF8"];
    once([...init, "--no-sync", ...how]);
    rmSync(secret);
    if (database !== "postgres")
      once([binaries.postgres, "--single", "-D", data, "postgres"], `CREATE DATABASE "${database}"\n`);
  }

  function once(command: string[], input = ""): void {
    const [program = "", ...rest] = asServerUser(withEnvironment(command));
    const { status, stderr, stdout } = spawnSync(program, rest, { cwd: here, input, encoding: "utf8" });
    if (status !== 0) throw new StoreError(`${command[0] ?? ""} failed: ${stderr || stdout}`);
  }

  const settings = ["-c", "unix_socket_directories=", "-c", "listen_addresses=127.0.0.1"];
  return runServer({
    name: "postgres",
    directory: data,
    logDirectory: here,
    command: (chosen) => withEnvironment([binaries.postgres, "-D", data, "-p", String(chosen), ...settings, ...args]),
    url: (chosen) =>
      `postgres://postgres${trust ? "" : `:${encodeURIComponent(password)}`}@127.0.0.1:${chosen}/${database}`,
    port,
    ready: /database system is ready to accept connections/,
    taken: /could not bind IPv4 address|Address already in use/,
    stopSignal: "SIGINT",
  });
}
