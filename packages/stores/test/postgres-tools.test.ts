import { spawnSync } from "node:child_process";
import { rmSync } from "node:fs";
import { join } from "node:path";
import pg from "pg";
import t from "tap";
import { locatePostgresTools, startPostgresImage, temporaryDirectory } from "@coffer/stores";

const directory = temporaryDirectory("coffer-stores-");
t.teardown(() => rmSync(directory, { recursive: true, force: true }));
const tools = await locatePostgresTools({ report: (line) => t.comment(line) });

const runTool = (name: string, args: string[]) =>
  spawnSync(join(tools.folder, name), args, { encoding: "utf8", env: { ...process.env, ...tools.env } });

await t.test(
  "a server starts as the image does: with a database, a password, and arguments of the container",
  async (t) => {
    const folder = join(directory, "password");
    const env = { POSTGRES_DB: "coffer", POSTGRES_PASSWORD: "p@ss" };
    const args = ["-c", "work_mem=7MB"];
    const server = await startPostgresImage({ tools, directory: folder, env, args });
    const client = new pg.Client(server.url);
    await client.connect();
    const { rows } = await client.query("SELECT current_database() AS name, current_setting('work_mem') AS memory");
    t.same(rows, [{ name: "coffer", memory: "7MB" }]);
    await client.query("CREATE TABLE kept (id int)");
    await client.end();
    const without = Object.assign(new URL(server.url), { password: "other" });
    t.match(runTool("psql", [without.href, "--command=SELECT 1"]), {
      status: 2,
      stderr: /password authentication failed/,
    });
    await server.stop();

    const again = await startPostgresImage({ tools, directory: folder, env });
    t.match(runTool("psql", [again.url, "--tuples-only", "--command=SELECT count(*) FROM kept"]), { status: 0 });
    const dump = join(directory, "dump");
    t.match(runTool("pg_dump", [again.url, "--format=custom", `--file=${dump}`]), { status: 0 });
    t.match(runTool("pg_restore", ["--list", dump]), { status: 0, stdout: /TABLE public kept postgres/ });
    await again.stop();
  },
);

await t.test("a server that trusts needs no password, and without either none is made", async (t) => {
  const folder = join(directory, "trust");
  const server = await startPostgresImage({ tools, directory: folder, env: { POSTGRES_HOST_AUTH_METHOD: "trust" } });
  t.match(runTool("psql", [server.url, "--command=SELECT 1"]), { status: 0 });
  await server.stop();
  await t.rejects(startPostgresImage({ tools, directory: join(directory, "none"), env: {} }), /POSTGRES_PASSWORD/);
});
