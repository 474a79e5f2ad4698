import { execFile } from "node:child_process";
import { existsSync, readdirSync, readFileSync, statSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { promisify } from "node:util";
import t from "tap";
import { testDirectory } from "@coffer/testkit";
import { npmStart } from "../../local/test/npm-start.ts";
import { checkout, dependencyFolders, newFolder, published, stageCheckout } from "./staged-checkout.ts";

const run = promisify(execFile);
const root = testDirectory(t);
const stage = newFolder(root, "stage");
const tarballs = newFolder(root, "tarballs");
const app = newFolder(root, "app");
const home = newFolder(root, "home");
const env = { PATH: process.env["PATH"] ?? "", HOME: home, npm_config_cache: join(root, "cache") };
const npm = (cwd: string, ...args: string[]) => run("npm", [...args, "--silent"], { cwd, env });
const manifestOf = (name: string): string => readFileSync(join(stage, "packages", name, "package.json"), "utf8");

const consumer = `
import { bootstrap, CofferError, createClient, personClient } from "@coffer/sdk";
import type { MachineConfiguration, Secret } from "@coffer/sdk";
import { login, register } from "@coffer/sdk/account";
import { newKeyPair } from "@coffer/crypto";
import { startLogin } from "@coffer/crypto/opaque";

export async function titles(configuration: MachineConfiguration): Promise<string[]> {
  const secrets: Secret[] = await createClient(configuration).list();
  return secrets.map(({ title }) => title);
}
// @ts-expect-error: a number is no configuration, so the types are not "any".
createClient(7);
export const all = [bootstrap, CofferError, personClient, login, register, newKeyPair, startLogin];
`;

const program = `
import { createClient } from "@coffer/sdk";
import { loadConfiguration } from "@coffer/sdk/node";

console.log(await createClient(await loadConfiguration("machine.json")).read(process.argv[2]));
`;

stageCheckout(stage);

await t.test("npm pack builds each package, and leaves its folder as it was", async (t) => {
  const before = published.map(manifestOf);
  const folders = published.map((name) => `./packages/${name}`);
  await npm(stage, "pack", "--pack-destination", tarballs, ...folders);
  t.same(
    readdirSync(tarballs).sort(),
    ["cli", "crypto", "env", "events", "history", "import", "sdk"].map((name) => `coffer-${name}-0.1.0.tgz`),
  );
  t.same(published.map(manifestOf), before);
  for (const name of published)
    for (const left of ["dist", "LICENSE", "package.source.json"])
      t.notOk(existsSync(join(stage, "packages", name, left)), `${name}/${left}`);
});

await t.test("a packing that was cut off is made good by the next one", async (t) => {
  const before = manifestOf("crypto");
  const script = (name: string) => run("npm", ["run", "--silent", name], { cwd: join(stage, "packages/crypto"), env });
  await script("prepack");
  t.match(manifestOf("crypto"), /dist\/index\.js/);
  await script("prepack");
  await script("postpack");
  t.equal(manifestOf("crypto"), before);
});

await t.test("the packages install in an empty folder, without a network and without the checkout", async (t) => {
  await npm(root, "pack", "--ignore-scripts", "--pack-destination", tarballs, ...dependencyFolders());
  writeFileSync(join(app, "package.json"), '{"private": true, "type": "module"}');
  const files = readdirSync(tarballs).map((name) => join(tarballs, name));
  await npm(app, "install", "--offline", "--ignore-scripts", "--no-audit", "--no-fund", ...files);
  for (const name of published) {
    const folder = join(app, "node_modules/@coffer", name);
    t.ok(existsSync(join(folder, "LICENSE")), name);
    const sources = readdirSync(folder, { recursive: true, encoding: "utf8" });
    t.same(
      sources.filter((path) => /(?<!\.d)\.m?ts$/.test(path)),
      [],
      `${name}: nothing that Node would refuse here`,
    );
  }
});

await t.test("their types are whole, for Node and for bundlers", async (t) => {
  writeFileSync(join(app, "consumer.ts"), consumer);
  for (const resolution of ["nodenext", "bundler"]) {
    const module = resolution === "bundler" ? "esnext" : "nodenext";
    const options = ["--noEmit", "--strict", "--types", "", "--lib", "es2023,dom", "--target", "es2023"];
    const tsc = [...options, "--module", module, "--moduleResolution", resolution, "consumer.ts"];
    const { stdout } = await run(join(checkout, "node_modules/.bin/tsc"), tsc, { cwd: app, env }).catch(
      (error: unknown) => error as { stdout: string }, // execFile's error has what was printed
    );
    t.equal(stdout, "", resolution);
  }
});

await t.test("what a browser loads of them asks for nothing of Node's", (t) => {
  const crypto = ["crypto/dist/index.js", "crypto/dist/opaque.js"];
  for (const entry of [...crypto, "sdk/dist/index.js", "sdk/dist/account.js", "import/dist/index.js"])
    t.notMatch([...importsOf(join(app, "node_modules/@coffer", entry))].join("\n"), /^node:/m, entry);
  t.match([...importsOf(join(app, "node_modules/@coffer/sdk/dist/node/index.js"))].join("\n"), /^node:/m);
  t.end();
});

await t.test("the installed command and a program with the SDK work with a service", async (t) => {
  const limits = { COFFER_LIMIT_STRICT: "100" };
  const { url } = await npmStart(t, { directory: testDirectory(t), env: limits }).ready;
  const bin = join(app, "node_modules/.bin/coffer");
  t.ok(statSync(bin).mode & 0o100, "it is executable");
  const node = async (file: string, args: string[], more: Record<string, string> = {}): Promise<string> => {
    const own = { XDG_CONFIG_HOME: home, COFFER_URL: url, ...more };
    return (await run(process.execPath, [file, ...args], { cwd: app, env: { ...env, ...own } })).stdout.trimEnd();
  };
  const uri = "coffer://production/database/field/password";
  const password = { COFFER_PASSWORD: "correct horse battery staple" };
  t.match(await node(bin, ["register", "--email", "packed@example.com", "--org", "Packed"], password), /^cfr1_/);
  await node(bin, ["folder", "create", "production"]);
  writeFileSync(join(app, "value"), "s3cret");
  await node(bin, ["set", "--file", "value", uri]);
  await node(bin, ["app", "create", "api"]);
  const token = await node(bin, ["token", "create", "--app", "api", "--folder", "production:read"]);
  await node(bin, ["bootstrap", "--config", "machine.json"], { COFFER_TOKEN: token });
  const command = [
    "run",
    "--no-mask",
    "--config",
    "machine.json",
    "--",
    process.execPath,
    "-p",
    "process.env.DB_PASSWORD",
  ];
  t.equal(await node(bin, command, { DB_PASSWORD: uri }), "s3cret");
  t.match(await node(bin, ["audit", "verify"]), /^\d+:[0-9a-f]{64}$/);
  writeFileSync(join(app, "program.js"), program);
  t.equal(await node("program.js", [uri]), "s3cret");
  t.match(await node(bin, ["--version"]), /^\d+\.\d+\.\d+$/);
  const started = await run(bin, ["run", "printf", "%s|", "--env-file", "none"], { cwd: app, env });
  t.equal(started.stdout, "--env-file|none|", "Node takes no option of the command");
  writeFileSync(join(app, "passwords.csv"), "name,url,username,password,note\nn,https://a.example,u,p,\n");
  t.match(await node(bin, ["import", "--dry-run", "passwords.csv"]), /1 login/);
  t.match(await node(bin, ["doctor", "--config", "machine.json"]), /^ok\tmachine\t/m);
  t.match(await node(bin, ["doctor", "--server-config"], { COFFER_PORT: "8080" }), /^ok\tconfiguration\t/m);
});

/** The names of all modules from elsewhere that a compiled module and those of its package load. */
function importsOf(entry: string): Set<string> {
  const foreign = new Set<string>();
  const seen = new Set<string>();
  const waiting = [entry];
  for (let path = waiting.pop(); path !== undefined; path = waiting.pop()) {
    if (seen.has(path)) continue;
    seen.add(path);
    for (const [, name = ""] of readFileSync(path, "utf8").matchAll(/^(?:import|export)\b[^;"]*"([^"]+)"/gm))
      if (name.startsWith(".")) waiting.push(join(dirname(path), name));
      else foreign.add(name);
  }
  return foreign;
}
