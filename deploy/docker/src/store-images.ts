import { spawnSync } from "node:child_process";
import { chmodSync, copyFileSync, cpSync, existsSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { basename, dirname, join, resolve } from "node:path";
import { locate, locatePostgresTools, type PostgresTools } from "@coffer/stores";
import { buildah } from "./buildah.ts";

/**
 * Images of the chart's three development stores, for a cluster without a registry: programs of this
 * Debian, with its libraries and busybox as `sh`. They replace the official ones, and start like those.
 */
export type Store = "postgres" | "nats" | "redis";

/** The name of a store's image, for the chart's value `dev.<store>.image`. */
export const storeImage = (store: Store): string => `localhost/coffer-dev/${store}:1`;

export interface StoreImage {
  image: string;
  /** The docker-archive file. */
  archive: string;
}

const passwd = "root:x:0:0:root:/:/bin/sh\npostgres:x:999:999:postgres:/var/lib/postgresql:/bin/sh\n";

/** Like the official image: makes the database of PGDATA once, without a listener, then serves. */
const startPostgres = `#!/bin/sh
set -e
if [ ! -s "$PGDATA/PG_VERSION" ]; then
  mkdir -p "$PGDATA"
  method=\${POSTGRES_HOST_AUTH_METHOD:-scram-sha-256}
  printf '%s' "\${POSTGRES_PASSWORD:-unused}" > /tmp/password
  initdb --pgdata="$PGDATA" --username=postgres --pwfile=/tmp/password --auth="$method" --locale=C --encoding=UTF8
  rm /tmp/password
  echo "host all all all $method" >> "$PGDATA/pg_hba.conf"
  [ "$POSTGRES_DB" = postgres ] || echo "CREATE DATABASE $POSTGRES_DB" | postgres --single -D "$PGDATA" postgres
fi
exec postgres -D "$PGDATA" -c listen_addresses='*' -c unix_socket_directories=/tmp "$@"
`;

/**
 * Builds the images with buildah, which needs no daemon, as docker-archive files below `directory`.
 * Throws the error of buildah or of a missing program.
 */
export async function buildStoreImages(directory: string): Promise<StoreImage[]> {
  const tools = await locatePostgresTools();
  const [nats, redis] = [await locate("nats-server"), await locate("redis-server")];
  return [
    build(directory, "postgres", 999, ["/start"], (root) => {
      const programs = addPostgres(root, tools);
      writeFileSync(join(root, "start"), startPostgres, { mode: 0o755 });
      return [programs];
    }),
    build(directory, "nats", 65532, ["/program"], (root) => {
      addProgram(root, nats);
      return [];
    }),
    build(directory, "redis", 999, ["/program"], (root) => {
      addProgram(root, redis);
      return [];
    }),
  ];
}

/**
 * Copies server and clients of one version, at Debian's places, where the server looks for its files.
 * Returns the folder of the programs in the image.
 */
function addPostgres(root: string, { folder, env }: PostgresTools): string {
  const version = basename(dirname(folder));
  const system = resolve(folder, "../../../../..");
  const places = [`usr/lib/postgresql/${version}`, `usr/share/postgresql/${version}`, "usr/share/zoneinfo"];
  // Compilation of queries, which needs LLVM, is off without its library.
  const isNeeded = (path: string): boolean => !/\/(bitcode|llvmjit\S*|man)$/.test(path);
  for (const place of places.filter((each) => existsSync(join(system, each))))
    cpSync(join(system, place), join(root, place), { recursive: true, verbatimSymlinks: true, filter: isNeeded });
  const programs = ["postgres", "initdb", "psql", "pg_dump", "pg_restore"].map((name) => join(folder, name));
  addLibraries(root, programs, env["LD_LIBRARY_PATH"]);
  return `/usr/lib/postgresql/${version}/bin`;
}

/** The program of a command that `locate` found, perhaps after `env LD_LIBRARY_PATH=…`. */
function addProgram(root: string, command: readonly string[]): void {
  const program = command.at(-1) ?? "";
  const libraries = command.find((word) => word.startsWith("LD_LIBRARY_PATH="))?.slice("LD_LIBRARY_PATH=".length);
  copyFileSync(program, join(root, "program"));
  addLibraries(root, [program], libraries);
}

/**
 * Copies the libraries of the programs, and the loader, to the loader's default places. `own` is where
 * they are found besides the system's places.
 */
function addLibraries(root: string, programs: readonly string[], own: string | undefined): void {
  for (const program of programs) {
    const env = own === undefined ? process.env : { ...process.env, LD_LIBRARY_PATH: own };
    // For a statically linked program ldd exits with 1.
    const { stdout: text } = spawnSync("ldd", [program], { env, encoding: "utf8" });
    for (const [, path = ""] of text.matchAll(/(?:=> |^\s*)(\/\S+) \(0x/gm)) {
      const isLoader = basename(path).startsWith("ld-linux");
      const target = join(root, isLoader ? path : join("/usr/lib", basename(path)));
      mkdirSync(dirname(target), { recursive: true });
      if (!existsSync(target)) copyFileSync(path, target);
    }
  }
}

function build(
  directory: string,
  store: Store,
  user: number,
  entrypoint: readonly string[],
  /** Puts the programs there. Returns the folders of the image that the PATH has before /bin. */
  fill: (root: string) => string[],
): StoreImage {
  const context = mkdtempSync(join(tmpdir(), "coffer-store-image-"));
  try {
    const root = join(context, "root");
    for (const folder of ["bin", "etc", "tmp", "usr/lib", "var/lib/postgresql", "var/run/postgresql"])
      mkdirSync(join(root, folder), { recursive: true });
    for (const name of ["sh", "mkdir", "rm", "cat", "env"]) copyFileSync("/bin/busybox", join(root, "bin", name));
    chmodSync(join(root, "tmp"), 0o1777);
    writeFileSync(join(root, "etc/passwd"), passwd);
    const path = [...fill(root), "/bin"].join(":");
    const lines = ["FROM scratch", "COPY root /", `ENV PATH=${path}`, `USER ${user}:${user}`];
    // Like the official image: SIGTERM would wait for all clients.
    if (store === "postgres") lines.push("STOPSIGNAL SIGINT");
    writeFileSync(join(context, "Dockerfile"), [...lines, `ENTRYPOINT ${JSON.stringify(entrypoint)}`, ""].join("\n"));
    const image = storeImage(store);
    const archive = join(directory, `coffer-dev-${store}.tar`);
    rmSync(archive, { force: true });
    buildah(["build", "--tag", image, context]);
    buildah(["push", "--quiet", image, `docker-archive:${archive}:${image}`]);
    return { image, archive };
  } finally {
    rmSync(context, { recursive: true, force: true });
  }
}
