import { execFileSync } from "node:child_process";
import { chmodSync, closeSync, mkdirSync, openSync, rmSync, writeSync } from "node:fs";
import { join } from "node:path";
import { testPostgres } from "@coffer/testkit";
import pg from "pg";
import t from "tap";
import { ask, createFolder, createMachine, createSecret, secretBody } from "../support/machines.ts";
import { register, sealed } from "../support/people.ts";
import { startAuthSm } from "../support/service.ts";
import { ownMountsVariable } from "./own-mounts.ts";

// A disk that is full: the tables are on a small one, while Postgres's log of changes, without
// which it stops, has room.

const skip =
  process.env[ownMountsVariable] === undefined ? "to mount a small disk takes root and CAP_SYS_ADMIN" : false;

await t.test(
  "what does not fit on the disk is answered 503, and fits again once there is room",
  { skip },
  async (t) => {
    // Below a folder that every user may enter: on the path to a tablespace Postgres checks its
    // user's permissions
    // (access(2)), without the capability that otherwise opens a test's private folders.
    const disk = "/mnt";
    execFileSync("mount", ["-t", "tmpfs", "-o", "size=96m", "tmpfs", disk]);
    t.teardown(() => void execFileSync("umount", ["--lazy", disk]));
    chmodSync(disk, 0o755);
    const tables = join(disk, "tables");
    mkdirSync(tables);
    const server = await testPostgres(t, { own: true });
    const administrator = new pg.Client({ connectionString: server.url });
    await administrator.connect();
    t.teardown(() => administrator.end());
    // Owned by the server's user.
    const { rows } = await administrator.query<{ data_directory: string }>("SHOW data_directory");
    execFileSync("chown", [`--reference=${rows[0]?.data_directory ?? ""}`, tables]);
    await administrator.query(`CREATE TABLESPACE small LOCATION '${tables}'`);
    await administrator.query("CREATE DATABASE coffer TABLESPACE small");
    const url = new URL(server.url);
    url.pathname = "/coffer";

    const service = await startAuthSm(t, {}, { postgres: { url: url.href } });
    const owner = await register(service, { orgName: "Example" });
    const folder = await createFolder(service, owner);
    const machine = await createMachine(service, owner, [{ folder_id: folder, permission: "write" }]);
    const uid = await createSecret(service, machine, folder);
    // It finds no room in pages that are there.
    const write = () =>
      ask(service, machine, "POST", "/secrets", { body: secretBody(folder, { encrypted_payload: sealed(150_000) }) });

    const filler = join(disk, "filler");
    fill(filler);
    const large = new pg.Client({ connectionString: url.href });
    await large.connect();
    const table = "CREATE TABLE filler AS SELECT repeat('x', 1000) FROM generate_series(1, 10000)";
    await t.rejects(large.query(table), { code: "53100" }, "Postgres itself says so");
    await large.end();
    const refused = await write();
    t.match(refused, { status: 503, body: { error: "unavailable" } });
    t.match(refused.headers.get("retry-after"), /^\d+$/);
    t.notMatch(JSON.stringify(refused.body), /disk|space|extend/i, "with no word of the store's inside");

    rmSync(filler);
    t.equal((await write()).status, 201);
    t.equal((await ask(service, machine, "GET", `/secrets/${uid}`)).status, 200);
    const { body } = await ask(service, machine, "GET", "/secrets");
    t.equal(body.data.length, 2, "and nothing is there of what was refused");
  },
);

/** Writes a file until nothing more can be written on its disk. */
function fill(path: string): void {
  const file = openSync(path, "w");
  try {
    for (let size = 1024 * 1024; size >= 1;) {
      try {
        if (writeSync(file, Buffer.alloc(size)) < size) size >>= 1;
      } catch (error) {
        if ((error as NodeJS.ErrnoException).code !== "ENOSPC") throw error;
        size >>= 1;
      }
    }
  } finally {
    closeSync(file);
  }
}
