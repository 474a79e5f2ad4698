import { existsSync, readFileSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import t from "tap";
import { testDirectory, until } from "@coffer/testkit";
import { outcomeOf, start } from "../../../../packages/cli/test/command.ts";
import { newMachine, newPerson } from "./cli-person.ts";
import { npmStart } from "../npm-start.ts";

const limits = { COFFER_LIMIT_STRICT: "100", COFFER_LIMIT_STANDARD: "1000", COFFER_LIMIT_USER: "1000" };
const server = npmStart(t, { directory: testDirectory(t), env: limits });
const { url } = await server.ready;
const person = await newPerson(t, url, "owner@example.com");
const password = "coffer://production/database/field/password";
await person.data(["folder", "create", "production"]);
await person.data(["app", "create", "api"]);
await person.data(["set", password], { input: "s3cret" });
const machine = await newMachine(person, "api", ["production:read"]);
const other = await newMachine(person, "api", ["production:read"]);
const cache = join(person.home, "machine.cache");
const env = { DB_PASSWORD: password };
const run = (config = machine, file = cache) =>
  person.run(["run", "--no-mask", "--cache", file, "--config", config, "--", "printenv", "DB_PASSWORD"], { env });

await t.test("while the service is there, its values are used, and cached under seal for the owner only", async (t) => {
  t.match(await run(), { code: 0, stdout: "s3cret\n", stderr: "" });
  t.equal(statSync(cache).mode & 0o777, 0o600);
  t.notMatch(readFileSync(cache, "utf8"), /s3cret|database/);
  await person.data(["set", password], { input: "changed" });
  t.match(await run(), { code: 0, stdout: "changed\n", stderr: "" }, "the cache is no reason to use what is old");
});

await t.test("a file that is no cache is left as it is; one that cannot be written stops nothing", async (t) => {
  const notes = join(person.home, "notes.txt");
  writeFileSync(notes, "my notes\n");
  t.match(await run(machine, notes), { code: 2, stdout: "", stderr: /notes\.txt holds something that Coffer did not/ });
  t.equal(readFileSync(notes, "utf8"), "my notes\n");
  t.match(await run(machine, person.home), { code: 2, stdout: "", stderr: /cannot be read/ });
  const nowhere = join(person.home, "none", "cache");
  t.match(await run(machine, nowhere), { code: 0, stdout: "changed\n", stderr: /--cache .*cannot be written/ });
});

await t.test("it is for machines, and names a file", async (t) => {
  for (const args of [["run", "--", "true"], ["env"], ["inject"], ["read", password]]) {
    const [command = "", ...rest] = args;
    const outcome = await person.run([command, "--cache", cache, ...rest], { env });
    t.match(outcome, { code: 2, stdout: "", stderr: /--cache is for machines/ }, command);
  }
  t.match(await run(machine, ""), { code: 2, stdout: "" });
});

await t.test("a machine that was cut off has no values any more, also without the service", async (t) => {
  const file = join(person.home, "other.cache");
  t.match(await run(other, file), { code: 0 });
  const { client_id: id } = JSON.parse(readFileSync(other, "utf8")) as { client_id: string };
  await person.data(["client", "rm", id]);
  t.match(await run(other, file), { code: 3, stdout: "" });
  t.notOk(existsSync(file));
});

await t.test("a watching command continues with cached values without the service", async (t) => {
  const args = ["--cache", cache, "--config", machine, "--watch", "--interval", "1", "--"];
  const script = 'echo "$DB_PASSWORD"; trap "exit 7" USR2; while :; do sleep 0.05; done';
  const child = start(person.home, ["run", "--no-mask", ...args, "sh", "-c", script], {
    env: { ...env, COFFER_URL: url },
  });
  let [out, err] = ["", ""];
  child.stdout?.on("data", (chunk: Buffer) => (out += chunk.toString()));
  child.stderr?.on("data", (chunk: Buffer) => (err += chunk.toString()));
  await until("it runs", () => out === "changed\n");
  process.kill(server.pid, "SIGTERM");
  await server.exited;
  await until("it is reported", () => /using the values of .*Z: .*cannot be reached/.test(err));
  const ended = outcomeOf(child);
  child.kill("SIGUSR2");
  t.equal((await ended).code, 7);
  t.equal(out, "changed\n", "it was not started again");
});

await t.test(
  "with the service stopped, everything that takes --cache works, and says of when its values are",
  async (t) => {
    const bare = await person.run(["run", "--no-mask", "--config", machine, "--", "printenv", "DB_PASSWORD"], { env });
    t.match(bare, { code: 7, stdout: "" });
    const said = /^coffer: using the values of \d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ: .*cannot be reached: ECONNREFUSED\n$/;
    t.match(await run(), { code: 0, stdout: "changed\n", stderr: said });
    const with_ = ["--cache", cache, "--config", machine];
    t.match(await person.run(["read", ...with_, password]), { code: 0, stdout: "changed\n", stderr: said });
    t.match(await person.run(["env", ...with_], { env }), { code: 0, stdout: "DB_PASSWORD=changed\n", stderr: said });
    const template = `password: {{ ${password} }}`;
    t.match(await person.run(["inject", ...with_], { input: template }), { code: 0, stdout: "password: changed" });
    t.match(await person.run(["env", ...with_, "--folder", "production"]), { stdout: "DATABASE_PASSWORD=changed\n" });
    const none = await person.run(["read", ...with_, "coffer://production/other/field/password"]);
    t.match(none, { code: 5, stdout: "" }, "missing values stay missing");
  },
);

await t.test("another machine's cache is of no use", async (t) => {
  t.match(await run(other), { code: 7, stdout: "" });
});
