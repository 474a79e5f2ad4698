import { chmodSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import t from "tap";
import { testDirectory } from "@coffer/testkit";
import { makeCluster } from "../src/postgres-cluster.ts";

/** The error for an initdb with this output. */
async function failureOf(t: Parameters<typeof testDirectory>[0], stderr: string): Promise<string> {
  const directory = testDirectory(t);
  chmodSync(directory, 0o755);
  const initdb = join(directory, "initdb");
  writeFileSync(initdb, `#!/bin/sh\ncat >&2 <<'END'\n${stderr}\nEND\nexit 1\n`, { mode: 0o755 });
  const made = makeCluster({ initdb, postgres: initdb }, { directory, password: "p", durable: false });
  return made.then(
    () => "nothing",
    (error: unknown) => (error as Error).message,
  );
}

await t.test("an initdb that fails is reported with its reason, not with later lines", async (t) => {
  const full = `2026-11-24 13:24:11.001 UTC [88] FATAL:  could not write to file "pg_wal/xlogtemp.88": No space left on device
child process exited with exit code 1
initdb: removing contents of data directory "/data/postgres/data.new"`;
  const said = await failureOf(t, full);
  t.match(said, /^Postgres could not make its data directory: .*: No space left on device$/);
  const refused = 'initdb: error: could not access directory "/data": Permission denied';
  t.equal(await failureOf(t, refused), `Postgres could not make its data directory: ${refused}`);
  t.match(await failureOf(t, "one\ntwo\nthree"), /: two \/ three$/);
});
