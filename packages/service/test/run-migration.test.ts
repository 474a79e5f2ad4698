import { spawn } from "node:child_process";
import { once } from "node:events";
import { writeFileSync } from "node:fs";
import { type AddressInfo, createServer } from "node:net";
import { join } from "node:path";
import { text } from "node:stream/consumers";
import { fileURLToPath } from "node:url";
import { appliedChecksums } from "@coffer/postgres";
import { testDirectory, testPostgres } from "@coffer/testkit";
import t from "tap";

const program = fileURLToPath(new URL("./programs/small-migration.ts", import.meta.url));
const begins = "migrate: schema small: connecting to Postgres\n";
const applied = "schema small: 2 applied: 0001_first.sql 0002_second.sql\n";

/** Starts the program with only this environment. */
function start(environment: Record<string, string>, args: readonly string[] = []) {
  const child = spawn(process.execPath, [program, ...args], { env: environment, stdio: ["ignore", "pipe", "pipe"] });
  const said = { stderr: "" };
  child.stderr.on("data", (chunk: Buffer) => (said.stderr += chunk.toString()));
  const ended = Promise.all([once(child, "close"), text(child.stdout)]).then(([[code], stdout]) => ({
    code: code as number | null,
    stdout,
    stderr: said.stderr,
  }));
  return { child, said, ended };
}

const run = (environment: Record<string, string>, args?: readonly string[]) => start(environment, args).ended;

await t.test("it applies pending migrations and says so; a second run applies nothing", async (t) => {
  const { url } = await testPostgres(t);
  const environment = { COFFER_POSTGRES_URL: url };
  t.same(await run(environment), { code: 0, stdout: applied, stderr: begins });
  const nothing = "schema small: up to date, nothing applied\n";
  t.same(await run(environment), { code: 0, stdout: nothing, stderr: begins });
});

await t.test("it reads the address from a file", async (t) => {
  const { url } = await testPostgres(t);
  const file = join(testDirectory(t), "postgres-url");
  writeFileSync(file, `${url}\n`);
  t.match(await run({ COFFER_POSTGRES_URL_FILE: file }), { code: 0, stdout: applied });
});

await t.test("programs that run at the same time apply each migration once", async (t) => {
  const { url } = await testPostgres(t);
  const runs = await Promise.all([1, 2, 3].map(() => run({ COFFER_POSTGRES_URL: url, SLEEP_SECONDS: "0.2" })));
  t.same(
    runs.map(({ code }) => code),
    [0, 0, 0],
  );
  t.equal(runs.filter(({ stdout }) => stdout === applied).length, 1);
});

await t.test("it waits for a Postgres that starts after it", async (t) => {
  const postgres = await testPostgres(t, { own: true });
  await postgres.stop();
  const { said, ended, child } = start({ COFFER_POSTGRES_URL: postgres.url }, ["--wait", "120"]);
  while (!said.stderr.includes("waiting up to 120 s for Postgres")) await once(child.stderr, "data");
  await postgres.start();
  t.match(await ended, { code: 0, stdout: applied });
});

await t.test("it gives up after the bound, with the reason and without the password", async (t) => {
  // An unused port.
  const server = createServer().listen(0, "127.0.0.1");
  await once(server, "listening");
  const { port } = server.address() as AddressInfo; // a server on TCP has one
  server.close();
  const url = `postgres://small:hidden-word@127.0.0.1:${port}/coffer`;
  const { code, stdout, stderr } = await run({ COFFER_POSTGRES_URL: url }, ["--wait", "1"]);
  t.equal(code, 1);
  t.equal(stdout, "");
  t.match(stderr, /\nmigrate: waiting up to 1 s for Postgres: .*ECONNREFUSED.*\nmigrate: schema small: .*ECONNREFUSED/);
  t.notMatch(stderr, "hidden-word");
});

await t.test("a schema with a changed migration is refused with exit code 1", async (t) => {
  const { url } = await testPostgres(t);
  await run({ COFFER_POSTGRES_URL: url });
  const refused = await run({ COFFER_POSTGRES_URL: url, SLEEP_SECONDS: "0.001" });
  t.match(refused, { code: 1, stdout: "", stderr: /\nmigrate: schema small: 0002_second.sql has changed/ });
});

await t.test("SIGTERM ends it with exit code 1, and nothing of the migration remains", async (t) => {
  const { url } = await testPostgres(t);
  const { child, ended } = start({ COFFER_POSTGRES_URL: url, SLEEP_SECONDS: "600" });
  // Once the first migration is applied, the second one sleeps or is about to.
  const names = () => appliedChecksums({ url, schema: "small" }).catch(() => new Map<string, string>());
  while (!(await names()).has("0001_first.sql")) await new Promise((resolve) => setImmediate(resolve));
  child.kill("SIGTERM");
  t.match(await ended, { code: 1, stderr: `${begins}migrate: stopped by SIGTERM\n` });
  t.same([...(await names()).keys()], ["0001_first.sql"]);
});

await t.test("it reports a missing address and a wrong argument", async (t) => {
  t.match(await run({}), { code: 1, stderr: /COFFER_POSTGRES_URL is required/ });
  const url = "postgres://127.0.0.1/coffer";
  t.match(await run({ COFFER_POSTGRES_URL: url, COFFER_POSTGRES_URLS: url }), { code: 1, stderr: /not a known name/ });
  for (const args of [["--wait", "soon"], ["--wait"], ["now"]])
    t.match(await run({ COFFER_POSTGRES_URL: url }, args), { code: 2, stdout: "", stderr: /^usage/ }, args.join(" "));
});
