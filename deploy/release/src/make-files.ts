import { spawnSync } from "node:child_process";
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { runHelm } from "../../chart/src/helm.ts";
import { normalizeBill } from "../../docker/src/tidy.ts";
import { checkout } from "../../local/src/checkout.ts";
import { newFolder, stageCheckout } from "../../pack/src/stage-checkout.ts";
import { releaseSection } from "./changelog.ts";
import { writeChecksums } from "./checksums.ts";
import { addNode } from "./executable/bill.ts";
import { licenseTexts } from "./executable/licenses.ts";
import { makeExecutable } from "./executable/make-executable.ts";
import { copyExecutables, executableName, platforms } from "./executable/names.ts";
import { imageList, imagesWithDigests } from "./images.ts";
import { normalizeArchive } from "./normalize-archive.ts";
import { run } from "./run.ts";

export interface Release {
  version: string;
  /** The prefix of a service's name in the name of an image. */
  registry: string;
  /** The folder with the images' digests; null before they are built. */
  digests: string | null;
  /** The folder with the executables of all platforms; null to make the one for this machine. */
  executables: string | null;
  /** The folder of the files, which is emptied first. */
  out: string;
}

/**
 * Writes the files of a release: the command's package and executables with their bills of materials and
 * licences, the chart, the notes, the list of images and the checksums. Two runs on one commit write equal
 * files.
 * @throws Error with the message of the program that failed
 */
export async function makeFiles({ version, registry, digests, executables, out }: Release): Promise<void> {
  const tagged = imageList(registry, version);
  const images = digests === null ? tagged : imagesWithDigests(tagged, digests);
  emptyFolder(out);
  await inWorkFolder(async (work) => {
    packCommand(work, version, out);
    packChart(work, version, out);
    if (executables === null) await makeExecutable(version, work, out);
    else copyExecutables(version, executables, out);
  });
  const bill = readFileSync(join(out, `coffer-${version}.cdx.json`), "utf8");
  writeFileSync(join(out, `coffer-${version}-executable.cdx.json`), addNode(bill));
  writeFileSync(
    join(out, `coffer-${version}-executable-licenses.txt`),
    licenseTexts({ complete: executables !== null }),
  );
  writeFileSync(join(out, "images.txt"), images.map((image) => `${image}\n`).join(""));
  writeFileSync(join(out, "RELEASE_NOTES.md"), notes({ version, registry, images }));
  writeChecksums(out);
}

/** Writes the executable of the command for this machine. */
export async function makeExecutableAlone(version: string, out: string): Promise<void> {
  emptyFolder(out);
  await inWorkFolder((work) => makeExecutable(version, work, out));
}

function emptyFolder(folder: string): void {
  rmSync(folder, { recursive: true, force: true });
  mkdirSync(folder, { recursive: true });
}

async function inWorkFolder(work: (folder: string) => Promise<void>): Promise<void> {
  const folder = mkdtempSync(join(tmpdir(), "coffer-release-"));
  try {
    await work(folder);
  } finally {
    rmSync(folder, { recursive: true });
  }
}

/**
 * Packs the command and the SDK in a copy of the checkout, because packing changes a manifest for a
 * moment.
 */
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
- ${platforms.map((platform) => `\`${executableName(version, platform)}\``).join(", ")}: the command as one file, which needs
  no Node. \`coffer-${version}-executable.cdx.json\` is the bill of materials, \`coffer-${version}-executable-licenses.txt\` has
  the licences
- \`coffer-chart-${version}.tgz\`: the Helm chart, also at \`oci://${registry}/charts/coffer\`
${images.map((image) => `- \`${image}\``).join("\n")}

Check the files with \`sha256sum --check SHA256SUMS\`. docs/operations/release.md says how to check the signatures.
`;
}
