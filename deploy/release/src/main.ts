// npm run release: the one version everywhere, and the files of a release.
import { readdirSync, statSync } from "node:fs";
import { join, resolve } from "node:path";
import { checkout } from "../../local/src/checkout.ts";
import { changelogProblems, closeSection } from "./changelog.ts";
import { checksumProblems } from "./checksums.ts";
import { makeExecutableAlone, makeFiles } from "./make-files.ts";
import { help, type Options, readOptions } from "./options.ts";
import { mainVersion, versionPlaces, versionProblems, writeVersions } from "./versions.ts";

const besides = `.github/workflows/release.yml does besides, for the tag of the version:
- runs the suite
- builds each image of images.txt for amd64 and arm64, with its bill of materials and provenance, and pushes it
- signs each image by its digest (cosign, keyless) and attests where it was built
- builds the executables of the command on Linux and macOS, each for x64 and arm64, and signs those for macOS ad hoc
- pushes the chart to oci://…/charts and signs it
- attests where the files were built, signs SHA256SUMS, and publishes the files with RELEASE_NOTES.md
`;

function refuse(problems: readonly string[]): void {
  if (problems.length > 0) throw new Error(problems.join("\n"));
}

/** Returns the version. */
function check(tag: string | null): string {
  refuse(versionProblems(checkout));
  const version = mainVersion(checkout);
  if (tag !== null && tag !== `v${version}`)
    throw new Error(`the tag ${tag} is not v${version}, the version of package.json: tag the commit of that version`);
  refuse(changelogProblems(checkout, version, { tagged: tag !== null }));
  process.stdout.write(`coffer ${version}: one version in ${versionPlaces(checkout).length} places\n`);
  return version;
}

async function make({ action, tag, registry, digests, executables, out, dryRun }: Options): Promise<void> {
  const folder = resolve(checkout, out);
  const version = check(tag);
  if (action === "executable") await makeExecutableAlone(version, folder);
  else await makeFiles({ version, registry, digests, executables, out: folder });
  for (const name of readdirSync(folder)) process.stdout.write(`${statSync(join(folder, name)).size}\t${name}\n`);
  if (dryRun) process.stdout.write(`\n${besides}`);
}

async function run(options: Options): Promise<void> {
  if (options.action === "help") process.stdout.write(help);
  else if (options.action === "check") check(options.tag);
  else if (options.action === "make" || options.action === "executable") await make(options);
  else if (options.action === "verify") {
    refuse(checksumProblems(resolve(options.argument)));
    process.stdout.write("all files are those of SHA256SUMS\n");
  } else {
    closeSection(checkout, options.argument, new Date().toISOString().slice(0, 10));
    writeVersions(checkout, options.argument);
    process.stdout.write(
      `coffer ${options.argument} in ${versionPlaces(checkout).length} places: commit it, then tag it v${options.argument}\n`,
    );
  }
}

try {
  await run(readOptions(process.argv.slice(2)));
} catch (error) {
  process.stderr.write(`release: ${error instanceof Error ? error.message : String(error)}\n`);
  process.exitCode = 1;
}
