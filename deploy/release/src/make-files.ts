import { execFileSync, spawnSync } from "node:child_process";
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { runHelm } from "../../chart/src/helm.ts";
import { normalizeBill } from "../../docker/src/tidy.ts";
import { checkout } from "../../local/src/checkout.ts";
import { newFolder, stageCheckout } from "../../pack/src/stage-checkout.ts";
import { releaseSection } from "./changelog.ts";
import { writeChecksums } from "./checksums.ts";
import { imageList, imagesWithDigests } from "./images.ts";
import { normalizeArchive } from "./normalize-archive.ts";

export interface Release {
  version: string;
  /** The prefix of a service's name in the name of an image. */
  registry: string;
  /** The folder with the images' digests; null before they are built. */
  digests: string | null;
  /** The folder of the files, which is emptied first. */
  out: string;
}

/**
 * Writes the files of a release: the command's package with its bill of materials, the chart, the notes,
 * the list of images and the checksums. Two runs on one commit write equal files.
 * @throws Error with the message of the program that failed
 */
export function makeFiles({ version, registry, digests, out }: Release): void {
  const tagged = imageList(registry, version);
  const images = digests === null ? tagged : imagesWithDigests(tagged, digests);
  rmSync(out, { recursive: true, force: true });
  mkdirSync(out, { recursive: true });
  const work = mkdtempSync(join(tmpdir(), "coffer-release-"));
  try {
    packCommand(work, version, out);
    packChart(work, version, out);
  } finally {
    rmSync(work, { recursive: true });
  }
  writeFileSync(join(out, "images.txt"), images.map((image) => `${image}\n`).join(""));
  writeFileSync(join(out, "RELEASE_NOTES.md"), notes({ version, registry, images }));
  writeChecksums(out);
}

/** Packs the command and the SDK in a copy of the checkout, because packing changes a manifest for a moment. */
function packCommand(work: string, version: string, out: string): void {
  const stage = newFolder(work, "stage");
  stageCheckout(stage);
  run("npm", ["pack", "--silent", "--pack-destination", out], stage);
  const unpacked = newFolder(work, "unpacked");
  run("tar", ["-xzf", join(out, `coffer-${version}.tgz`), "-C", unpacked], work);
  const folder = join(unpacked, "package");
  const printed = run(process.execPath, [join(folder, "packages/cli/bin/coffer.mjs"), "--version"], work).trim();
  if (printed !== version) throw new Error(`packages/sdk/src/version.ts: coffer --version prints ${printed}`);
  const bill = join(out, `coffer-${version}.cdx.json`);
  writeFileSync(bill, run("npm", ["sbom", "--omit=dev", "--sbom-format=cyclonedx"], folder));
  normalizeBill(bill, "coffer");
}

function packChart(work: string, version: string, out: string): void {
  const folder = join(checkout, "charts/coffer");
  const lint = runHelm(["lint", "--strict", folder, "--values", join(folder, "ci/production-external-values.yaml")]);
  if (lint.status !== 0) throw new Error(`charts/coffer does not pass helm lint:\n${lint.stdout}${lint.stderr}`);
  const packed = runHelm(["package", folder, "--destination", work]);
  if (packed.status !== 0) throw new Error(`charts/coffer cannot be packed:\n${packed.stderr}`);
  const archive = readFileSync(join(work, `coffer-${version}.tgz`));
  writeFileSync(join(out, `coffer-chart-${version}.tgz`), normalizeArchive(archive, commitTime()));
}

/** The time of the commit, in seconds since 1970; 0 outside a clone. */
function commitTime(): number {
  const { status, stdout } = spawnSync("git", ["log", "-1", "--format=%ct"], { cwd: checkout, encoding: "utf8" });
  return status === 0 ? Number(stdout) : 0;
}

function notes(release: { version: string; registry: string; images: readonly string[] }): string {
  const { version, registry, images } = release;
  const section = releaseSection(checkout, version)?.body ?? "";
  return `# Coffer ${version}

${section}

## What belongs to this version

- \`coffer-${version}.tgz\`: the \`coffer\` command and the SDK, with everything they need: \`npm install --global ./coffer-${version}.tgz\`
- \`coffer-${version}.cdx.json\`: its bill of materials (CycloneDX)
- \`coffer-chart-${version}.tgz\`: the Helm chart, also at \`oci://${registry}/charts/coffer\`
${images.map((image) => `- \`${image}\``).join("\n")}

Check the files with \`sha256sum --check SHA256SUMS\`. docs/operations/release.md says how to check the signatures.
`;
}

/** Runs a program and returns its output. The variables of an outer npm would be read by the inner one. */
function run(program: string, args: readonly string[], cwd: string): string {
  const kept = Object.entries(process.env).filter(
    ([name]) => !/^(npm_|NODE_OPTIONS$)/i.test(name) || /cache$/.test(name),
  );
  return execFileSync(program, args, {
    cwd,
    encoding: "utf8",
    maxBuffer: 1 << 26,
    stdio: ["ignore", "pipe", "inherit"],
    env: Object.fromEntries(kept),
  });
}
