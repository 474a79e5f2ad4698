import { spawnSync } from "node:child_process";
import { appendFileSync, cpSync, mkdirSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { testDirectory } from "@coffer/testkit";
import t from "tap";
import { fileList } from "../../docker/src/file-list.ts";
import { checkout } from "../../local/src/checkout.ts";
import { changelogProblems, closeSection } from "../src/changelog.ts";
import { checksumProblems, writeChecksums } from "../src/checksums.ts";
import { copyExecutables, executableName, platforms } from "../src/executable/names.ts";
import { imageList, imageNames, imagesWithDigests } from "../src/images.ts";
import { mainVersion, versionPlaces, versionProblems, writeVersions } from "../src/versions.ts";

const version = mainVersion(checkout);
const root = testDirectory(t);
const release = (...args: string[]) =>
  spawnSync(process.execPath, [join(checkout, "deploy/release/src/main.ts"), ...args], { encoding: "utf8" });

/** A copy of the files that have the version. */
function copyOfVersions(name: string): string {
  const copy = join(root, name);
  const files = [...versionPlaces(checkout).map(({ file }) => file), "package-lock.json", "CHANGELOG.md"];
  for (const file of new Set([...files, "charts/coffer/UPGRADING.md"])) {
    mkdirSync(dirname(join(copy, file)), { recursive: true });
    cpSync(join(checkout, file), join(copy, file));
  }
  return copy;
}

function edit(file: string, change: (text: string) => string): void {
  const text = readFileSync(file, "utf8");
  const changed = change(text);
  if (changed === text) throw new Error(`${file}: nothing to change`);
  writeFileSync(file, changed);
}

await t.test("one version stands everywhere", (t) => {
  t.same(versionProblems(checkout), []);
  const files = new Set(versionPlaces(checkout).map(({ file }) => file));
  for (const file of [
    "package.json",
    "charts/coffer/Chart.yaml",
    "packages/sdk/src/version.ts",
    "services/sync/package.json",
  ])
    t.ok(files.has(file), file);
  t.end();
});

await t.test("another version in any one place is refused, with the file and what to do", (t) => {
  const copy = copyOfVersions("differing");
  const others = versionPlaces(copy).filter(({ file }) => file !== "package.json");
  for (const { file, find } of others) {
    const path = join(copy, file);
    const text = readFileSync(path, "utf8");
    writeFileSync(
      path,
      text.replace(find, (_all, before: string, _old, after: string) => `${before}9.9.9${after}`),
    );
  }
  const remedy = `run npm run release -- --set-version ${version}`;
  t.same(
    versionProblems(copy),
    others.map(({ file, what }) => `${file}: ${what} is 9.9.9, package.json has ${version}: ${remedy}`),
  );
  writeVersions(copy, version);
  edit(join(copy, "package-lock.json"), (text) =>
    text.replace(/("deploy\/local": \{\s+"name": "[^"]+",\s+"version": ")[^"]+/, "$19.9.9"),
  );
  t.match(versionProblems(copy), [/^package-lock.json: deploy\/local is 9\.9\.9/]);
  t.end();
});

await t.test("--set-version writes it everywhere, and gives it to the changes of the changelog", (t) => {
  const copy = copyOfVersions("next");
  closeSection(copy, "0.9.0-rc.1", "2026-12-01");
  writeVersions(copy, "0.9.0-rc.1");
  t.equal(mainVersion(copy), "0.9.0-rc.1");
  t.same(versionProblems(copy), []);
  t.same(changelogProblems(copy, "0.9.0-rc.1", { tagged: true }), []);
  t.match(readFileSync(join(copy, "CHANGELOG.md"), "utf8"), /^## 0\.9\.0-rc\.1 \(2026-12-01\)$/m);
  t.match(readFileSync(join(copy, "charts/coffer/UPGRADING.md"), "utf8"), /^## 0\.9\.0-rc\.1$/m);
  const left = [...fileList(copy).keys()].filter((file) =>
    readFileSync(join(copy, file), "utf8").includes(`"@coffer/sdk": "${version}"`),
  );
  t.same(left, []);
  t.throws(() => writeVersions(copy, "1.0"), /"1\.0" is not a version such as 1\.2\.0/);
  t.throws(() => closeSection(copy, "1.0.0", "2026-12-01"), /nothing is to be released/);
  t.end();
});

await t.test("after --set-version the scripts of npm find the installation complete", (t) => {
  const copy = copyOfVersions("installed");
  type Lock = { packages: Record<string, { version?: string } | undefined> };
  const read = (file: string) => JSON.parse(readFileSync(join(copy, file), "utf8")) as Lock;
  const { packages } = read("package-lock.json");
  // npm's record of an installation has every package but the root.
  const { "": _root, ...installed } = packages;
  mkdirSync(join(copy, "node_modules"));
  const record = "node_modules/.package-lock.json";
  writeFileSync(join(copy, record), JSON.stringify({ version, packages: installed }));
  writeVersions(copy, "7.8.9");
  const wanted = Object.entries(read("package-lock.json").packages).filter(([path]) => path !== "");
  t.ok(wanted.some(([, each]) => each?.version === "7.8.9"));
  t.same(
    wanted.map(([path, each]) => [path, each?.version]),
    Object.entries(read(record).packages).map(([path, each]) => [path, each?.version]),
  );
  t.end();
});

await t.test("a changelog that does not fit the release is refused", (t) => {
  const copy = copyOfVersions("changelog");
  const file = join(copy, "CHANGELOG.md");
  const written = (text: string, tagged = true): string[] => {
    writeFileSync(file, `# Changelog\n\n${text}`);
    return changelogProblems(copy, "2.0.0", { tagged });
  };
  edit(join(copy, "charts/coffer/UPGRADING.md"), (text) => text.replace("## Unreleased", "## 2.0.0"));
  const remedy = "run npm run release -- --set-version 2.0.0";
  t.same(written("## 1.0.0\n\n- An entry.\n"), ['CHANGELOG.md: there is no section "## 2.0.0": add one']);
  t.same(written("## Unreleased\n\n- An entry.\n", false), [], "before the tag");
  t.same(written("## Unreleased\n\n- An entry.\n"), [
    `CHANGELOG.md: "## Unreleased" has changes without a version: ${remedy}`,
  ]);
  t.same(written("## 2.0.0 (2026-12-01)\n\n## 1.0.0\n"), ['CHANGELOG.md: "## 2.0.0" is empty: say what has changed']);
  t.same(
    written("## 2.0.0\n\n- Operators must, with X, do Y.\n- Operators must do Z.\n\n### Added\n\n- An entry.\n"),
    [],
  );
  t.match(written("## 2.0.0\n\n- An entry.\n- Operators must do Z.\n"), [
    /"Operators must do Z\.…" stands after other entries: move it to the top/,
  ]);
  writeFileSync(file, "# Changelog\n\n## Unreleased\n\n- An entry.\n\n## 2.0.0\n\n- An entry.\n");
  t.throws(() => closeSection(copy, "2.0.0", "2026-12-01"), /2\.0\.0 is released already: take a higher version/);
  t.end();
});

await t.test("the command refuses a tag of another version, and several actions at once", (t) => {
  const tagged = release("--check", "--tag", "v99.0.0");
  t.equal(tagged.status, 1);
  t.match(
    tagged.stderr,
    `the tag v99.0.0 is not v${version}, the version of package.json: tag the commit of that version`,
  );
  t.match(release("--check", "--verify", ".").stderr, /give one thing to do/);
  t.match(release("--chek").stderr, /Unknown option '--chek'/);
  t.equal(release("--check").status, 0);
  t.end();
});

await t.test("images.txt has the digests of the images that were pushed, and of all of them", (t) => {
  const folder = join(root, "digests");
  mkdirSync(folder);
  const images = imageList("ghcr.io/example/coffer", version);
  t.same(images.at(-1), `ghcr.io/example/coffer/cli:${version}`);
  const digest = `sha256:${"a".repeat(64)}`;
  images.forEach((image, index) =>
    writeFileSync(join(folder, `${imageNames()[index] ?? ""}.digest`), `${image}@${digest}\n`),
  );
  t.same(
    imagesWithDigests(images, folder),
    images.map((image) => `${image}@${digest}`),
  );
  writeFileSync(join(folder, "cli.digest"), "");
  t.throws(() => imagesWithDigests(images, folder), /has no digest of .*cli:.*: build that image first/);
  t.end();
});

await t.test("a release has the executables of all platforms", (t) => {
  const [made, out] = [join(root, "executables"), join(root, "collected")];
  for (const folder of [made, out]) mkdirSync(folder);
  for (const platform of platforms) writeFileSync(join(made, executableName(version, platform)), platform);
  writeFileSync(join(made, "other"), "");
  copyExecutables(version, made, out);
  t.same(readdirSync(out).sort(), platforms.map((platform) => executableName(version, platform)).sort());
  for (const name of readdirSync(out)) t.equal(statSync(join(out, name)).mode & 0o777, 0o755);
  rmSync(join(made, executableName(version, "linux-arm64")));
  t.throws(() => copyExecutables(version, made, out), /has no coffer-.*-linux-arm64: build it on that platform first/);
  t.end();
});

await t.test("a file that was changed, added or removed does not pass for one of SHA256SUMS", (t) => {
  const folder = join(root, "sums");
  mkdirSync(folder);
  for (const name of ["a.tgz", "b.tgz"]) writeFileSync(join(folder, name), name);
  t.match(checksumProblems(folder), [/has no SHA256SUMS: download it with the files/]);
  writeChecksums(folder);
  t.equal(spawnSync("sha256sum", ["--check", "SHA256SUMS"], { cwd: folder }).status, 0);
  t.same(checksumProblems(folder), []);
  t.equal(release("--verify", folder).status, 0);
  appendFileSync(join(folder, "a.tgz"), "more");
  writeFileSync(join(folder, "c.tgz"), "");
  const problems = ["a.tgz is not the file of SHA256SUMS: do not use it", "c.tgz is not in SHA256SUMS: do not use it"];
  t.same(checksumProblems(folder), problems);
  const verified = release("--verify", folder);
  t.equal(verified.status, 1);
  t.match(verified.stderr, problems.join("\n"));
  writeFileSync(join(folder, "SHA256SUMS"), `${"0".repeat(64)}  gone.tgz\n`, { flag: "a" });
  t.match(checksumProblems(folder), [/^a\.tgz/, /^gone\.tgz is missing: download it again/, /^c\.tgz/]);
  t.end();
});
