import { existsSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import t from "tap";
import { testDirectory } from "@coffer/testkit";
import { newPerson } from "./cli-person.ts";
import { startCutProxy } from "../cut-proxy.ts";
import { npmStart } from "../npm-start.ts";

const proxy = await startCutProxy(t);
const server = npmStart(t, {
  directory: testDirectory(t),
  // The second address is that of machines behind the proxy.
  env: { COFFER_LIMIT_STRICT: "1000", COFFER_BASE_URL: `http://coffer.invalid,${proxy.url}` },
});
proxy.target = (await server.ready).url;
const person = await newPerson(t, proxy.url, "owner@example.com");
await person.data(["folder", "create", "production"]);
await person.data(["app", "create", "api"]);
const uri = "coffer://production/database/field/password";
await person.data(["set", uri], { input: "s3cret" });

const newToken = (...more: string[]): Promise<string> =>
  person.data(["token", "create", "--app", "api", "--folder", "production:read", ...more]);
const file = join(testDirectory(t), "machine.json");
const bootstrap = (token: string, path = file) =>
  person.run(["bootstrap", "--config", path], { env: { COFFER_TOKEN: token } });
const isBootstrap = (_method: string, path: string): boolean => path === "/api/sm/v1/bootstrap";

await t.test("with --config - stdout gets the configuration, once, and no file is made", async (t) => {
  const made = await bootstrap(await newToken(), "-");
  t.equal(made.code, 0, made.stderr);
  const configuration = JSON.parse(made.stdout) as { client_id: string; application_id?: string; wrap_key?: string };
  t.match(configuration, { application_id: String, folders: [{ name: "production", key: String }] });
  t.notOk(configuration.wrap_key, "after the joins");
  t.match(made.stderr, `client id: ${configuration.client_id}\nfingerprint: `);
  t.notOk(existsSync(join(person.home, "-")));
  const env = { COFFER_CONFIG: made.stdout };
  t.equal(await person.data(["read", uri], { env }), "s3cret");
});

await t.test("with --config - a failure after the token was sent leaves on stdout what finishes it", async (t) => {
  const token = await newToken();
  proxy.loses = (_method, path) => path.startsWith("/api/sm/");
  const lost = await bootstrap(token, "-");
  t.match(lost, { code: 7, stderr: /the token may be spent: save stdout to a file/ });
  proxy.loses = () => false;
  const saved = join(testDirectory(t), "saved.json");
  writeFileSync(saved, lost.stdout, { mode: 0o600 });
  t.match(await person.run(["bootstrap", "--config", saved]), { code: 0 });
  t.equal(await person.data(["read", "--config", saved, uri]), "s3cret");
  const used = await bootstrap(token, "-");
  t.match(used, { code: 3, stdout: "" }, "a token that was refused leaves nothing");
});

await t.test("a lost answer costs nothing: the next call gets the rest, without the token", async (t) => {
  const token = await newToken();
  proxy.loses = (_method, path) => path.startsWith("/api/sm/");
  const lost = await bootstrap(token);
  t.match(lost, { code: 7, stdout: "", stderr: /call again with the same configuration, nothing is lost/ });
  t.match(await person.run(["read", "--config", file, uri]), { code: 2, stderr: /not bootstrapped yet/ });
  proxy.loses = () => false;
  const again = await person.run(["bootstrap", "--config", file, "--json"]);
  const { client_id: id } = JSON.parse(readFileSync(file, "utf8")) as { client_id: string };
  t.match(JSON.parse(again.stdout), { client_id: id, application_id: String, org_id: String });
  t.equal(await person.data(["read", "--config", file, uri]), "s3cret");
});

await t.test("a lost answer is found out in the same call when the network is back at once", async (t) => {
  const other = `${file}.same-call`;
  proxy.loses = isBootstrap;
  const outcome = await bootstrap(await newToken(), other);
  proxy.loses = () => false;
  t.equal(outcome.code, 0);
  t.equal(await person.data(["read", "--config", other, uri]), "s3cret");
});

await t.test("a token is given on stdin too, and spent only once", async (t) => {
  const token = await newToken();
  const first = await person.run(["bootstrap", "--config", `${file}.stdin`], { input: `${token}\n` });
  t.match(first, { code: 0, stdout: /^[0-9a-f-]{36}\n$/ });
  const second = await bootstrap(token, `${file}.second`);
  t.match(second, { code: 3, stdout: "" });
  t.notMatch(second.stderr, /log in again|cut off/, "neither helps here");
  t.notOk(existsSync(`${file}.second`), "the draft for a refused token is removed");
});

await t.test("two bootstraps of one file at once leave the machine that the token was spent for", async (t) => {
  const token = await newToken();
  const shared = `${file}.shared`;
  // Without a lock both have looked for the file before one writes it, and the refusal comes last.
  let bootstraps = 0;
  let saved = (): void => undefined;
  const isSaved = new Promise<void>((resolve) => (saved = resolve));
  proxy.delays = (method, path) => {
    if (path.endsWith("/jwks.json")) return delay(2_000);
    return isBootstrap(method, path) && ++bootstraps === 2 ? isSaved : undefined;
  };
  const both = [bootstrap(token, shared), bootstrap(token, shared)];
  await Promise.race(both);
  saved();
  const outcomes = await Promise.all(both);
  proxy.delays = () => undefined;
  t.same(outcomes.map(({ code }) => code).sort(), [0, 1]);
  t.match(outcomes.find(({ code }) => code === 1)?.stderr, /holds the machine .* already/);
  t.equal(await person.data(["read", "--config", shared, uri]), "s3cret");
  t.notOk(existsSync(`${shared}.bootstrap.lock`));
});

await t.test("a file that holds a machine is not written over, and the token stays unspent", async (t) => {
  const before = readFileSync(file, "utf8");
  const token = await newToken();
  t.match(await bootstrap(token), { code: 1, stdout: "", stderr: /holds the machine .* already/ });
  t.equal(readFileSync(file, "utf8"), before);
  writeFileSync(`${file}.other`, "something else");
  t.match(await bootstrap(token, `${file}.other`), { code: 2, stdout: "" });
  t.equal(readFileSync(`${file}.other`, "utf8"), "something else");
  t.equal((await bootstrap(token, `${file}.free`)).code, 0);
});

await t.test("an unwritable path is noticed before the token is spent", async (t) => {
  const token = await newToken();
  mkdirSync(`${file}.folder`);
  t.match(await bootstrap(token, `${file}.folder`), { code: 2, stdout: "" });
  t.match(await bootstrap(token, join(`${file}.nowhere`, "machine.json")), { code: 1, stdout: "" });
  t.equal((await bootstrap(token, join(`${file}.folder`, "machine.json"))).code, 0);
});

await t.test("away from its networks a token is denied and stays unspent", async (t) => {
  const token = await newToken("--cidr", "10.0.0.0/8", "--name", "elsewhere");
  t.match(await bootstrap(token, `${file}.away`), { code: 4, stdout: "" });
  const tokens = JSON.parse(await person.data(["token", "ls", "--json"])) as {
    name: string;
    status: string;
    id: string;
  }[];
  const [mine] = tokens.filter(({ name }) => name === "elsewhere");
  t.equal(mine?.status, "unused");
  await person.data(["token", "rm", mine?.id ?? ""]);
  t.match(await bootstrap(token, `${file}.away`), { code: 3 });
});

await t.test("without a token, or with half of one, it is said and nothing is written", async (t) => {
  t.match(await person.run(["bootstrap", "--config", `${file}.none`]), { code: 2, stdout: "", stderr: /no token/ });
  t.match(await person.run(["bootstrap"]), { code: 2, stdout: "" });
  t.equal((await bootstrap("cft1_half", `${file}.none`)).code, 2);
  t.notOk(existsSync(`${file}.none`));
});
