import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";

const changelog = "CHANGELOG.md";
const upgrading = "charts/coffer/UPGRADING.md";
const unreleased = "Unreleased";

interface Section {
  /** The title without the date: a version, or "Unreleased". */
  name: string;
  body: string;
}

/** The sections of a page, newest first. */
function sectionsOf(root: string, file: string): Section[] {
  const [, ...parts] = readFileSync(join(root, file), "utf8").split(/^## /m);
  return parts.map((part) => {
    const [title = "", ...lines] = part.split("\n");
    return { name: title.split(" ")[0] ?? "", body: lines.join("\n").trim() };
  });
}

/** The section of a version: its own, or that of the changes without a version. Null without either. */
export function releaseSection(root: string, version: string): Section | null {
  const sections = sectionsOf(root, changelog);
  const named = (name: string): Section | undefined => sections.find((section) => section.name === name);
  return named(version) ?? named(unreleased) ?? null;
}

/**
 * What is wrong with the changelog for a release of `version`. With a tag the version's own section is
 * needed, and no change may be without a version.
 */
export function changelogProblems(root: string, version: string, { tagged }: { tagged: boolean }): string[] {
  const section = releaseSection(root, version);
  const remedy = `run npm run release -- --set-version ${version}`;
  if (section === null) return [`${changelog}: there is no section "## ${version}": add one`];
  const open = tagged
    ? [changelog, upgrading].filter((file) => sectionsOf(root, file).some(({ name }) => name === unreleased))
    : [];
  return [
    ...open.map((file) => `${file}: "## ${unreleased}" has changes without a version: ${remedy}`),
    ...(section.body === "" ? [`${changelog}: "## ${section.name}" is empty: say what has changed`] : []),
    ...orderProblems(section),
  ];
}

/** Entries for operators stand before all others. */
function orderProblems({ name, body }: Section): string[] {
  const entries = body.split("\n").filter((line) => line.startsWith("- "));
  const isForOperators = (line: string): boolean => /^- Operators must\b/.test(line);
  const others = entries.findIndex((line) => !isForOperators(line));
  const late = others < 0 ? undefined : entries.slice(others).find(isForOperators);
  if (late === undefined) return [];
  return [`${changelog}: in "## ${name}", "${late.slice(2, 70)}…" stands after other entries: move it to the top`];
}

/** Gives the changes without a version this one, in the changelog and in the chart's UPGRADING.md. */
export function closeSection(root: string, version: string, date: string): void {
  const sections = sectionsOf(root, changelog);
  if (sections.some(({ name }) => name === version)) {
    if (sections.some(({ name }) => name === unreleased))
      throw new Error(`${changelog}: ${version} is released already: take a higher version`);
    return;
  }
  if (!sections.some(({ name, body }) => name === unreleased && body !== ""))
    throw new Error(`${changelog}: there is no "## ${unreleased}" with entries: nothing is to be released`);
  for (const [file, title] of [
    [changelog, `## ${version} (${date})`],
    [upgrading, `## ${version}`],
  ] as const) {
    const path = join(root, file);
    writeFileSync(path, readFileSync(path, "utf8").replace(/^## Unreleased$/m, title));
  }
}
