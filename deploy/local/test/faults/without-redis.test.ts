import { execFileSync } from "node:child_process";
import { copyFileSync, mkdirSync, readdirSync, rmSync, symlinkSync } from "node:fs";
import { delimiter, dirname, join } from "node:path";
import t from "tap";
import { locate, temporaryDirectory } from "@coffer/stores";
import { removeTestDirectory } from "@coffer/testkit";
import { bareEnvironment, cloneIn, runFirstMinute, startClone } from "../clone.ts";

// A machine without apt-get, Docker and Redis, like many with Fedora, Alpine or macOS.

const notHere = /^(apt-get|dpkg-deb|docker|podman|redis-server|valkey-server)$/;
const parent = temporaryDirectory("coffer-test-");
t.teardown(() => removeTestDirectory(parent));

/** A folder with links to the other programs of this machine, and to NATS. */
async function programs(): Promise<string> {
  const folder = join(parent, "bin");
  mkdirSync(folder);
  const nats = await locate("nats-server");
  copyFileSync(nats.at(-1) ?? "", join(folder, "nats-server"));
  const names = new Set(["nats-server"]);
  for (const from of [dirname(process.execPath), ...(process.env["PATH"] ?? "").split(delimiter)])
    for (const name of list(from)) {
      if (notHere.test(name) || names.has(name)) continue;
      symlinkSync(join(from, name), join(folder, name));
      names.add(name);
    }
  return folder;
}

function list(folder: string): string[] {
  try {
    return readdirSync(folder);
  } catch {
    return [];
  }
}

const installed = ["redis-server", "valkey-server"].some((name) =>
  ["/usr/local/sbin", "/usr/sbin", "/sbin"].some((folder) => list(folder).includes(name)),
);
const skip = installed ? "a Redis is where daemons are" : false;
await t.test("one process starts without Redis, and says so in one line", { skip, timeout: 300_000 }, async (t) => {
  const env = { PATH: await programs() };
  const clone = cloneIn(t, parent);
  const cache = join(clone, "node_modules/.cache/coffer/stores");
  for (const name of ["redis-server", "valkey-server"]) rmSync(join(cache, name), { recursive: true, force: true });
  const run = await startClone(t, clone, { env });
  t.equal(run.stderr().split("no Redis was found: this one process counts requests by itself").length, 2);
  t.equal(run.state.stores.redis, null);
  t.same(Object.keys(run.state.store_pids).sort(), ["nats", "postgres"]);
  const readiness = await fetch(`${run.state.management_url}/readyz`);
  t.match(await readiness.json(), { status: "ready" });
  t.equal(await runFirstMinute(clone), "s3cret\n");
  const doctor = execFileSync("npx", ["coffer", "doctor"], {
    cwd: clone,
    encoding: "utf8",
    env: { ...bareEnvironment(), XDG_CONFIG_HOME: join(clone, ".coffer-profile") },
  });
  t.match(doctor, /^ok\tstores\t/m);
  t.equal(await run.stop(), 0, run.stderr());

  const refused = startClone(t, clone, { env: { ...env, COFFER_PROCESSES: "separate" } });
  await t.rejects(refused, { message: /coffer: redis-server is needed and was not found: .*set COFFER_REDIS_URL/ });
});
