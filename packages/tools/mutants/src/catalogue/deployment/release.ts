import type { Mutant } from "../../mutant.ts";

const source = "deploy/release/src";
const tests = ["deploy/release/test/versions.test.ts"] as const;

/** The one version, and the files of a release. */
export const releaseMutants: readonly Mutant[] = [
  {
    name: "another-version-in-one-file-is-released",
    file: `${source}/versions.ts`,
    find: "if (found === version) return [];",
    replace: "if (found !== undefined) return [];",
    tests,
  },
  {
    name: "another-version-in-the-lock-file-is-released",
    file: `${source}/versions.ts`,
    find: "filter(({ value }) => value !== version)",
    replace: 'filter(({ value }) => value === "missing")',
    tests,
  },
  {
    name: "after-set-version-everything-is-installed-again",
    file: `${source}/versions.ts`,
    find: "for (const file of [lockFile, installedFile]) {",
    replace: "for (const file of [lockFile]) {",
    tests,
  },
  {
    name: "a-release-needs-no-section-of-the-changelog",
    file: `${source}/changelog.ts`,
    find: "named(version) ?? named(unreleased) ?? null",
    replace: 'named(version) ?? named(unreleased) ?? { name: version, body: "- " }',
    tests,
  },
  {
    name: "a-tag-may-leave-changes-without-a-version",
    file: `${source}/changelog.ts`,
    find: "const open = tagged\n",
    replace: 'const open = tagged && version === ""\n',
    tests,
  },
  {
    name: "what-operators-must-do-may-stand-at-the-end",
    file: `${source}/changelog.ts`,
    find: "if (late === undefined) return [];",
    replace: 'if (late !== "") return [];',
    tests,
  },
  {
    name: "a-version-is-released-twice",
    file: `${source}/changelog.ts`,
    find: "if (sections.some(({ name }) => name === version)) {",
    replace: "if (sections.some(({ name }) => name === `${version} again`)) {",
    tests,
  },
  {
    name: "the-tag-of-a-release-is-not-compared",
    file: `${source}/main.ts`,
    find: "if (tag !== null && tag !== `v${version}`)",
    replace: 'if (tag === "")',
    tests,
  },
  {
    name: "a-changed-file-passes-for-one-of-a-release",
    file: `${source}/checksums.ts`,
    find: "if (sumOf(join(folder, name)) !== sum)",
    replace: 'if (sum === "")',
    tests,
  },
  {
    name: "an-added-file-passes-for-one-of-a-release",
    file: `${source}/checksums.ts`,
    find: "filter((name) => !expected.has(name))",
    replace: 'filter((name) => name === "")',
    tests,
  },
  {
    name: "an-image-without-a-digest-is-released",
    file: `${source}/images.ts`,
    find: "line.startsWith(`${image}@`)",
    replace: 'line.startsWith("")',
    tests,
  },
  {
    name: "two-charts-of-one-commit-differ",
    file: `${source}/make-files.ts`,
    find: "normalizeArchive(archive, commitTime())",
    replace: "normalizeArchive(archive, Math.floor(Date.now() / 1000))",
    tests: ["deploy/release/test/dry-run.test.ts"],
  },
  {
    name: "an-image-is-published-without-a-signature",
    file: ".github/workflows/release.yml",
    find: 'cosign sign --yes "$REGISTRY/$IMAGE@$digest"',
    replace: 'echo "$digest"',
    tests: ["deploy/release/test/workflow.test.ts"],
  },
];
