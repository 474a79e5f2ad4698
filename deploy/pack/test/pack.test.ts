import { execFile } from "node:child_process";
import { existsSync, readdirSync, readFileSync, statSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { promisify } from "node:util";
import t from "tap";
import { testDirectory } from "@coffer/testkit";
import { npmStart } from "../../local/test/npm-start.ts";
import { packages } from "../src/one-package.ts";
import { checkout, newFolder, stageCheckout } from "../src/stage-checkout.ts";

const run = promisify(execFile);
const root = testDirectory(t);
const stage = newFolder(root, "stage");
const tarballs = newFolder(root, "tarballs");
const app = newFolder(root, "app");
const home = newFolder(root, "home");
const env = { PATH: process.env["PATH"] ?? "", HOME: home, npm_config_cache: join(root, "cache") };
const npm = (cwd: string, ...args: string[]) => run("npm", [...args, "--silent"], { cwd, env });
const { version } = JSON.parse(readFileSync(join(checkout, "package.json"), "utf8")) as { version: string };
const tarball = `coffer-${version}.tgz`;
const manifest = (): string => readFileSync(join(stage, "package.json"), "utf8");
const installed = join(app, "node_modules/@coffer/sdk");

const consumer = `
import { bootstrap, CofferError, createClient, type MachineConfiguration, personClient, type Secret } from "@coffer/sdk";
import { login, register } from "@coffer/sdk/account";

export async function titles(configuration: MachineConfiguration): Promise<string[]> {
  const secrets: Secret[] = await createClient(configuration).list();
  return secrets.map(({ title }) => title);
}
// @ts-expect-error: a number is no configuration, so the types are not "any".
createClient(7);
export const all = [bootstrap, CofferError, personClient, login, register];
`;

const program = `
import { createClient } from "@coffer/sdk";
import { loadConfiguration } from "@coffer/sdk/node";

console.log(await createClient(await loadConfiguration("machine.json")).read(process.argv[2]));
`;

stageCheckout(stage);

await t.test("npm pack makes one tarball, and leaves the checkout as it was", async (t) => {
  const before = manifest();
  await npm(stage, "pack", "--pack-destination", tarballs);
  t.same(readdirSync(tarballs), [tarball]);
  t.equal(manifest(), before);
  t.notOk(existsSync(join(stage, "package.source.json")));
  for (const name of packages) t.notOk(existsSync(join(stage, "packages", name, "dist")), name);
});

await t.test("an interrupted packing is repaired by the next one", async (t) => {
  const before = manifest();
  const script = (name: string) => run("npm", ["run", "--silent", name], { cwd: stage, env });
  await script("prepack");
  t.match(manifest(), /"name": "@coffer\/sdk"/);
  writeFileSync(join(stage, "packages/sdk/dist/left.js"), "");
  await script("prepack");
  t.notOk(existsSync(join(stage, "packages/sdk/dist/left.js")));
  await script("postpack");
  t.equal(manifest(), before);
});

await t.test("it installs in an empty folder, without a network and without the checkout", async (t) => {
  writeFileSync(join(app, "package.json"), '{"private": true, "type": "module"}');
  await npm(app, "install", "--offline", "--no-audit", "--no-fund", join(tarballs, tarball));
  t.same(readdirSync(join(app, "node_modules/@coffer")), ["sdk"]);
  t.ok(existsSync(join(installed, "LICENSE")));
  const files = readdirSync(installed, { recursive: true, encoding: "utf8" }).filter(
    (path) => !path.startsWith("node_modules/"),
  );
  t.same(
    files.filter((path) => /(?<!\.d)\.m?ts$/.test(path)),
    [],
    "nothing that Node would refuse here",
  );
  for (const path of files.filter((each) => /\.(js|d\.ts)$/.test(each)))
    t.notMatch(readFileSync(join(installed, path), "utf8"), /(from|import|import\() ?"@coffer\//, path);
});

await t.test("their types are complete, for Node and for bundlers", async (t) => {
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

await t.test("the browser's modules import nothing of Node", (t) => {
  const { exports } = JSON.parse(readFileSync(join(installed, "package.json"), "utf8")) as {
    exports: Record<string, { default: string }>;
  };
  t.match(exports, { ".": {}, "./account": {}, "./browser": {}, "./node": {} });
  const imported = (path: string): string => [...importsOf(join(installed, path))].join("\n");
  for (const [name, { default: path }] of Object.entries(exports)) {
    if (name === "./node") t.match(imported(path), /^node:/m, name);
    else t.notMatch(imported(path), /^node:/m, name);
  }
  t.notMatch(imported("packages/import/dist/index.js"), /^node:/m);
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
  t.match(await node(bin, ["console", "verify"]), /serves the console of this release/, "it carries the manifest");
  writeFileSync(join(app, "program.js"), program);
  t.equal(await node("program.js", [uri]), "s3cret");
  t.match(await node(bin, ["--version"]), /^\d+\.\d+\.\d+$/);
  const started = await run(bin, ["run", "printf", "%s|", "--env-file", "none"], { cwd: app, env });
  t.equal(started.stdout, "--env-file|none|", "Node takes no option of the command");
  writeFileSync(join(app, "passwords.csv"), "name,url,username,password,note\nn,https://a.example,u,p,\n");
  t.match(await node(bin, ["import", "--dry-run", "passwords.csv"]), /1 login/);
  t.match(await node(bin, ["doctor", "--config", "machine.json"]), /^ok\tmachine\t/m);
  t.match(await node(bin, ["scan", "rules", "explain", "github-personal-token"]), /decided by the checksum inside/);
  t.equal(await node(bin, ["scan", "--threads", "2", "passwords.csv"]), "");
  t.match(await node(bin, ["doctor", "--server-config"], { COFFER_PORT: "8080" }), /^ok\tconfiguration\t/m);
});

/** The external modules that a compiled module and those of its package load. */
function importsOf(entry: string): Set<string> {
  const foreign = new Set<string>();
  const seen = new Set<string>();
  const waiting = [entry];
  for (let path = waiting.pop(); path !== undefined; path = waiting.pop()) {
    if (seen.has(path)) continue;
    seen.add(path);
    for (const [, name = ""] of readFileSync(path, "utf8").matchAll(
      /^(?:import|export)\b(?:[^;"]*\bfrom)? "([^"]+)"/gm,
    ))
      if (name.startsWith(".")) waiting.push(join(dirname(path), name));
      else foreign.add(name);
  }
  return foreign;
}
