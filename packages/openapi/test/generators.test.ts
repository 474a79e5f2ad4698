import { execFile } from "node:child_process";
import { readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { testDirectory } from "@coffer/testkit";
import openapiTS, { astToString } from "openapi-typescript";
import t from "tap";
import { bundleFile } from "../src/bundle.ts";
import { loadDescription } from "../src/description.ts";

// Generators of clients must understand docs/spec/openapi.json completely.

const run = promisify(execFile);
const timeout = 300_000;
const generator = "openapi-python-client==0.29.1";
const operationIds = loadDescription().operations.map(({ id }) => id);
const tsc = fileURLToPath(new URL("../../../node_modules/.bin/tsc", import.meta.url));

/** A client program: it compiles only with the described types of request, response and error. */
const program = `
import type { paths } from "./types.ts";
type Bootstrap = paths["/api/sm/v1/bootstrap"]["post"];
export const request: Bootstrap["requestBody"]["content"]["application/json"] = { token: "a", public_key: "b" };
export function keysOf(answer: Bootstrap["responses"][200]["content"]["application/json"]): string[] {
  return Object.keys(answer.encrypted_folder_keys);
}
export function codeOf(refusal: Bootstrap["responses"][401]["content"]["application/json"]): "invalid_token" {
  return refusal.error;
}
`;

await t.test("openapi-typescript makes types of every operation, and they compile", async (t) => {
  const directory = testDirectory(t);
  const types = astToString(await openapiTS(bundleFile));
  writeFileSync(join(directory, "types.ts"), types);
  writeFileSync(join(directory, "program.ts"), program);
  for (const id of operationIds) t.ok(types.includes(`\n    ${id}: {`), id);
  const flags = [
    "--noEmit",
    "--strict",
    "--allowImportingTsExtensions",
    "--module",
    "nodenext",
    "--ignoreConfig",
    "--types",
    "",
  ];
  // The compiler must not start with the test runner's loader.
  const compile = ["-u", "NODE_OPTIONS", tsc, ...flags, join(directory, "program.ts")];
  await t.resolves(run("env", compile, { timeout }));
});

await t.test("openapi-python-client makes a client with every operation, without a warning", async (t) => {
  const directory = testDirectory(t);
  const environment = join(directory, "venv");
  const missing = await whyNoPython(environment);
  if (missing !== undefined) {
    t.comment(`skipped: ${missing}`);
    return;
  }
  const bin = join(environment, "bin");
  const options = { cwd: directory, timeout, env: { ...process.env, PATH: `${bin}:${process.env["PATH"] ?? ""}` } };
  const made = join(directory, "coffer_client");
  const flags = ["--meta", "none", "--fail-on-warning", "--path", fileURLToPath(bundleFile), "--output-path", made];
  const { stdout } = await run(join(bin, "openapi-python-client"), ["generate", ...flags], options);
  t.notMatch(stdout, /warning|unable|skipp/i);
  const modules = readdirSync(join(made, "api"), { recursive: true, encoding: "utf8" });
  for (const id of operationIds) {
    const name = `${snakeCase(id)}.py`;
    t.ok(
      modules.some((path) => path.endsWith(`/${name}`)),
      name,
    );
  }
  const refusal = readFileSync(join(made, "models/invalid_token.py"), "utf8");
  t.match(refusal, /error: .*InvalidTokenError/, "a refusal has its codes");
  const importAll =
    "import coffer_client, importlib, pkgutil\n" +
    "for module in pkgutil.walk_packages(coffer_client.__path__, 'coffer_client.'): importlib.import_module(module.name)";
  await t.resolves(run(join(bin, "python"), ["-c", importAll], options), "all of it can be imported");
});

/** Makes a virtual environment with the generator; returns the reason if this machine cannot. */
async function whyNoPython(environment: string): Promise<string | undefined> {
  try {
    await run("python3", ["-c", "import sys, venv, ensurepip; assert sys.version_info >= (3, 11)"], { timeout });
  } catch {
    return "openapi-python-client needs python3, from 3.11, with venv";
  }
  await run("python3", ["-m", "venv", environment], { timeout });
  const flags = ["--quiet", "--disable-pip-version-check", "--no-compile", "--only-binary", ":all:", generator];
  try {
    await run(join(environment, "bin/pip"), ["install", ...flags], { timeout });
  } catch (error) {
    const { stderr } = error as { stderr: string }; // execFile puts it there
    if (!/connection|resolution|max retries|timed out/i.test(stderr)) throw error;
    return "openapi-python-client cannot be downloaded";
  }
  return undefined;
}

function snakeCase(name: string): string {
  return name.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);
}
