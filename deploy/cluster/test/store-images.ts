import { execFileSync, spawnSync } from "node:child_process";
import {
  chmodSync,
  copyFileSync,
  cpSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  rmSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { basename, dirname, join } from "node:path";
import { locate } from "@coffer/stores";
import { postgresBinaries } from "../../../packages/stores/src/postgres-binaries.ts";

/**
 * Images of the three stores, for a cluster without a registry: the programs of `npm start`, with the
 * system's libraries and busybox as `sh`. They replace the official ones, and start like those.
 */
export type Store = "postgres" | "nats" | "redis";

/** The name of a store's image, for the chart's value `dev.<store>.image`. */
export const storeImage = (store: Store): string => `localhost/coffer-test/${store}:1`;

const passwd = "root:x:0:0:root:/:/bin/sh\npostgres:x:999:999:postgres:/var/lib/postgresql:/bin/sh\n";

/** Like the official image: makes the database of PGDATA once, without a listener, then serves. */
const startPostgres = `#!/bin/sh
set -e
export LD_LIBRARY_PATH=/native/lib
if [ ! -s "$PGDATA/PG_VERSION" ]; then
  mkdir -p "$PGDATA"
  printf '%s' "$POSTGRES_PASSWORD" > /tmp/password
  /native/bin/initdb --pgdata="$PGDATA" --username=postgres --pwfile=/tmp/password --auth=scram-sha-256 --locale=C --encoding=UTF8
  rm /tmp/password
  echo 'host all all all scram-sha-256' >> "$PGDATA/pg_hba.conf"
  [ "$POSTGRES_DB" = postgres ] || echo "CREATE DATABASE $POSTGRES_DB" | /native/bin/postgres --single -D "$PGDATA" postgres
fi
exec /native/bin/postgres -D "$PGDATA" -c listen_addresses='*' -c unix_socket_directories=/tmp
`;

/**
 * Builds the images with buildah, which needs no daemon, as docker-archive files below `directory`.
 * Returns the files; throws the error of buildah or of a missing program.
 */
export async function buildStoreImages(directory: string): Promise<string[]> {
  const { postgres } = await postgresBinaries();
  const native = dirname(dirname(postgres));
  const [nats, redis] = [await locate("nats-server"), await locate("redis-server")];
  return [
    build(directory, "postgres", 999, ["/start"], (root) => {
      cpSync(native, join(root, "native"), { recursive: true, verbatimSymlinks: true });
      addLibraries(root, [postgres, join(native, "bin/initdb")], { skipped: native });
      writeFileSync(join(root, "start"), startPostgres, { mode: 0o755 });
      addProgram(root, [psql()], "bin/psql");
    }),
    build(directory, "nats", 65532, ["/program"], (root) => {
      addProgram(root, nats);
    }),
    build(directory, "redis", 999, ["/program"], (root) => {
      addProgram(root, redis);
    }),
  ];
}

/** The client with which the chart makes roles and schemas, at the place of Debian's wrapper. */
function psql(): string {
  const folder = "/usr/lib/postgresql";
  const versions = existsSync(folder) ? readdirSync(folder) : [];
  const found = versions.map((version) => join(folder, version, "bin/psql")).find((path) => existsSync(path));
  if (found === undefined) throw new Error("psql was not found: install postgresql-client");
  return found;
}

/** The program of a command that `locate` found, perhaps after `env LD_LIBRARY_PATH=…`. */
function addProgram(root: string, command: readonly string[], target = "program"): void {
  const program = command.at(-1) ?? "";
  const libraries = command.find((word) => word.startsWith("LD_LIBRARY_PATH="))?.slice("LD_LIBRARY_PATH=".length);
  copyFileSync(program, join(root, target));
  addLibraries(root, [program], { own: libraries });
}

/**
 * Copies the libraries of the programs, and the loader, to the loader's default places. `own` is where
 * they are found, `skipped` a folder that is copied whole.
 */
function addLibraries(
  root: string,
  programs: readonly string[],
  { own, skipped }: { own?: string | undefined; skipped?: string } = {},
): void {
  for (const program of programs) {
    const env = own === undefined ? process.env : { ...process.env, LD_LIBRARY_PATH: own };
    // For a statically linked program ldd exits with 1.
    const { stdout: text } = spawnSync("ldd", [program], { env, encoding: "utf8" });
    for (const [, path = ""] of text.matchAll(/(?:=> |^\s*)(\/\S+) \(0x/gm)) {
      if (skipped !== undefined && path.startsWith(skipped)) continue;
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
  fill: (root: string) => void,
): string {
  const context = mkdtempSync(join(tmpdir(), "coffer-store-image-"));
  try {
    const root = join(context, "root");
    for (const folder of ["bin", "etc", "tmp", "usr/lib", "var/lib/postgresql", "var/run/postgresql"])
      mkdirSync(join(root, folder), { recursive: true });
    for (const name of ["sh", "mkdir", "rm", "cat", "env"]) copyFileSync("/bin/busybox", join(root, "bin", name));
    chmodSync(join(root, "tmp"), 0o1777);
    writeFileSync(join(root, "etc/passwd"), passwd);
    fill(root);
    const lines = ["FROM scratch", "COPY root /", "ENV PATH=/bin", `USER ${user}:${user}`];
    // Like the official image: SIGTERM would wait for all clients.
    if (store === "postgres") lines.push("STOPSIGNAL SIGINT");
    writeFileSync(join(context, "Dockerfile"), [...lines, `ENTRYPOINT ${JSON.stringify(entrypoint)}`, ""].join("\n"));
    const image = storeImage(store);
    const archive = join(directory, `${store}.tar`);
    rmSync(archive, { force: true });
    buildah("build", "--tag", image, context);
    buildah("push", image, `docker-archive:${archive}:${image}`);
    return archive;
  } finally {
    rmSync(context, { recursive: true, force: true });
  }
}

function buildah(...args: string[]): void {
  const env = { BUILDAH_ISOLATION: "chroot", STORAGE_DRIVER: "vfs", ...process.env };
  execFileSync("buildah", args, { env, stdio: ["ignore", "ignore", "inherit"] });
}
