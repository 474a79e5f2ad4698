// npm run images: builds the images of the services and of the command, with buildah, each as a
// docker-archive file.
import { execFileSync } from "node:child_process";
import { mkdirSync, mkdtempSync, readFileSync, rmSync, statSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { parseArgs } from "node:util";
import { checkout } from "../../local/src/checkout.ts";
import { presentServices } from "../../local/src/services/services.ts";
import { buildah } from "./buildah.ts";
import { checkImage } from "./check-image.ts";
import { makeCliContext } from "./cli-context.ts";
import { makeLocalBases } from "./local-base.ts";
import { buildStoreImages } from "./store-images.ts";

const help = `usage: npm run images -- [options] [service…]

Builds the images of the services and of the command, \`cli\` (default: all), with buildah and writes DIR/coffer-<service>.tar,
docker-archive files.

  --out DIR              where the files go (default: dist/images)
  --tag TAG              of the images localhost/coffer/<service>:TAG (default: the version of package.json)
  --build-image IMAGE    Node 24 with npm and a shell, as in "FROM" (default: the Dockerfile's)
  --runtime-image IMAGE  Node 24 (default: the Dockerfile's)
  --local-bases          makes both from the Node of node_modules and libraries of this Debian, without a registry
  --stores               makes the images of the chart's development stores too, from the programs of this Debian
  --check                compares /app of each image with what this checkout assembles, and its size with 250 MB
  --npm-registry URL     where npm gets the packages (default: npm's)
  --npm-ca FILE          certificates that npm trusts besides Node's own (default: $NODE_EXTRA_CA_CERTS)
`;

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: {
    help: { type: "boolean" },
    out: { type: "string", default: join(checkout, "dist/images") },
    tag: { type: "string" },
    "build-image": { type: "string" },
    "runtime-image": { type: "string" },
    "local-bases": { type: "boolean" },
    stores: { type: "boolean" },
    check: { type: "boolean" },
    "npm-registry": { type: "string" },
    "npm-ca": { type: "string", default: process.env["NODE_EXTRA_CA_CERTS"] ?? "" },
  },
});

function git(args: readonly string[]): string | undefined {
  try {
    return execFileSync("git", args, { cwd: checkout, encoding: "utf8", stdio: ["ignore", "pipe", "ignore"] }).trim();
  } catch {
    return undefined; // not a clone
  }
}

async function main(): Promise<void> {
  const known: string[] = [...presentServices().map(({ name }) => name), "cli"];
  const unknown = positionals.find((name) => !known.includes(name));
  if (unknown !== undefined) throw new Error(`there is no service ${unknown}: ${known.join(", ")}`);
  const { version } = JSON.parse(readFileSync(join(checkout, "package.json"), "utf8")) as { version: string }; // ours
  const tag = values.tag ?? version;
  const bases = values["local-bases"] === true ? makeLocalBases(checkout) : null;
  const given = {
    BUILD_IMAGE: values["build-image"] ?? bases?.build,
    RUNTIME_IMAGE: values["runtime-image"] ?? bases?.runtime,
    NPM_CONFIG_REGISTRY: values["npm-registry"],
    NODE_EXTRA_CA_CERTS: values["npm-ca"] === "" ? undefined : "/run/secrets/npm-ca",
    VERSION: version,
    REVISION: git(["rev-parse", "HEAD"]),
  };
  // The time of the commit, so that two builds of it are the same.
  const time = git(["log", "-1", "--format=%ct"]);
  const out = resolve(values.out);
  mkdirSync(out, { recursive: true });
  for (const service of positionals.length > 0 ? positionals : known) {
    const name = `localhost/coffer/${service}:${tag}`;
    const file = join(out, `coffer-${service}.tar`);
    const args = Object.entries({ SERVICE: service, ...given }).flatMap(([key, value]) =>
      value === undefined ? [] : ["--build-arg", `${key}=${value}`],
    );
    const context = service === "cli" ? mkdtempSync(join(tmpdir(), "coffer-cli-image-")) : checkout;
    if (service === "cli") makeCliContext(checkout, context);
    const dockerfile = join(checkout, "deploy/docker", service === "cli" ? "Dockerfile.cli" : "Dockerfile");
    buildah([
      ...["build", "--layers", "--file", dockerfile, "--tag", name, ...args],
      ...(values["npm-ca"] === "" ? [] : ["--secret", `id=npm-ca,src=${values["npm-ca"]}`]),
      ...(time === undefined ? [] : ["--timestamp", time]),
      context,
    ]);
    if (context !== checkout) rmSync(context, { recursive: true });
    rmSync(file, { force: true }); // an archive cannot be written twice
    buildah(["push", "--quiet", name, `docker-archive:${file}:${name}`]);
    printImage(name, file);
    if (values.check === true && service !== "cli") checkImage(service, file);
  }
  if (values.stores === true) for (const { image, archive } of await buildStoreImages(out)) printImage(image, archive);
}

function printImage(name: string, file: string): void {
  process.stdout.write(`${name} ${(statSync(file).size / 1e6).toFixed(1)} MB ${file}\n`);
}

try {
  if (values.help === true) process.stdout.write(help);
  else await main();
} catch (error) {
  process.stderr.write(`images: ${error instanceof Error ? error.message : String(error)}\n`);
  process.exitCode = 1;
}
