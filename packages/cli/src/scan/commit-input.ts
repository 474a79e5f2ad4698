import type { Job, JobResult, Occurrence } from "@coffer/scan";
import { usage } from "../failure.ts";
import { addedLines, standsOnAdded } from "./added-lines.ts";
import { cannotScan } from "./exit-codes.ts";
import { git, gitTexts, type Repository, tryGit } from "./git.ts";
import type { Input } from "./input.ts";
import { type RawChange, rawChange } from "./raw-changes.ts";

/** Where a blob came into the history. */
interface Appearance extends RawChange {
  commit: string;
}

/** The lines that the commits of a range add. Throws Failure (usage) for a range that names nothing. */
export async function rangeInput(
  repository: Repository | null,
  range: string,
  isExcluded: (path: string) => boolean,
): Promise<Input> {
  if (repository === null) throw cannotScan("--range needs a git repository");
  const { root } = repository;
  if (range.startsWith("-")) throw usage(`${range} is no range of commits`);
  const known = await tryGit(root, ["rev-list", "--max-count=1", range, "--"]);
  if (!("output" in known)) {
    if (!/unknown revision|bad revision|ambiguous/i.test(known.words)) throw cannotScan(`git failed: ${known.words}`);
    throw usage(`${range} names no commits here: a shallow clone has too few (fetch the whole history)`);
  }
  const appearances = new Map<string, Appearance[]>();
  const commits = await commitsOf(root, [range]);
  const results: { oid: string; occurrences: Occurrence[] }[] = [];
  return {
    jobs: jobsOf(root, commits, appearances, isExcluded, [range]),
    small: commits.length <= 50,
    problems: [],
    whole: false,
    accept: (job, result) => {
      if (job.source.from !== "blob") return result.occurrences;
      if (result.occurrences.length > 0) results.push({ oid: job.source.oid, occurrences: result.occurrences });
      return [];
    },
    finish: async (occurrences) => {
      for (const { oid, occurrences: found } of results)
        for (const appearance of appearances.get(oid) ?? [])
          for (const added of await addedBy(root, appearance, found)) occurrences.push(added);
      return occurrences;
    },
  };
}

/** All commits of all branches, tags, stashes and merges, with their messages. Each blob is read once. */
export async function historyInput(
  repository: Repository | null,
  reflog: boolean,
  isExcluded: (path: string) => boolean,
): Promise<Input> {
  if (repository === null) throw cannotScan("--history needs a git repository");
  const { root } = repository;
  const revisions = ["--all", ...(reflog ? ["--reflog"] : []), ...(await looseCommits(root))];
  const appearances = new Map<string, Appearance[]>();
  const commits = await commitsOf(root, revisions);
  const results: { oid: string; occurrences: Occurrence[] }[] = [];
  return {
    jobs: jobsOf(root, commits, appearances, isExcluded, revisions),
    small: commits.length <= 50,
    problems: [],
    whole: true,
    accept: (job: Job, result: JobResult) => {
      if (job.source.from !== "blob" || !appearances.has(job.source.oid)) return result.occurrences;
      if (result.occurrences.length > 0) results.push({ oid: job.source.oid, occurrences: result.occurrences });
      return [];
    },
    finish: (occurrences) => {
      const secrets = new Map(results.map(({ oid, occurrences: found }) => [oid, fingerprintsOf(found)]));
      for (const { oid, occurrences: found } of results) {
        const [first] = appearances.get(oid) ?? [];
        // Only the commit that brought a secret is named, not each later version of its file.
        const isNew = ({ fingerprint }: Occurrence): boolean =>
          !(first?.before ?? []).some((before) => secrets.get(before)?.has(fingerprint) === true);
        for (const one of found) if (isNew(one)) occurrences.push(one);
      }
      return occurrences;
    },
  };
}

function fingerprintsOf(occurrences: readonly Occurrence[]): Set<string> {
  return new Set(occurrences.map(({ fingerprint }) => fingerprint));
}

/** HEAD without a branch, and the stashes below the newest one. */
async function looseCommits(root: string): Promise<string[]> {
  const head = await tryGit(root, ["rev-parse", "--quiet", "--verify", "HEAD"]);
  const stashes = await tryGit(root, ["log", "--walk-reflogs", "--format=%H", "refs/stash", "--"]);
  return [head, stashes].flatMap((answer) =>
    "output" in answer
      ? answer.output
          .toString()
          .split("\n")
          .filter((line) => line !== "")
      : [],
  );
}

/** Parents before children, so that the first appearance of a blob is the oldest. */
async function commitsOf(root: string, revisions: readonly string[]): Promise<string[]> {
  const output = await git(root, ["rev-list", "--reverse", "--topo-order", ...revisions, "--"]);
  return output
    .toString()
    .split("\n")
    .filter((line) => line !== "");
}

async function* jobsOf(
  root: string,
  commits: readonly string[],
  appearances: Map<string, Appearance[]>,
  isExcluded: (path: string) => boolean,
  revisions: readonly string[],
): AsyncGenerator<Job> {
  if (commits.length === 0) return;
  for await (const appearance of changedBlobs(root, commits)) {
    if (isExcluded(appearance.path)) continue;
    const { after: oid, path, commit } = appearance;
    const earlier = appearances.get(oid);
    if (earlier !== undefined) {
      earlier.push(appearance);
      continue;
    }
    appearances.set(oid, [appearance]);
    yield { source: { from: "blob", directory: root, oid }, path, pathBelow: path, commit };
  }
  yield* messages(root, commits);
  if (revisions.includes("--all")) yield* tags(root);
}

/** Every blob that a commit has and none of its parents had at that path. */
async function* changedBlobs(root: string, commits: readonly string[]): AsyncGenerator<Appearance> {
  const args = ["diff-tree", "--stdin", "-r", "-c", "--root", "--raw", "-z", "--no-abbrev", "--no-renames", "--always"];
  let commit = "";
  let header: string | undefined;
  for await (const text of gitTexts(
    root,
    args,
    commits.map((each) => `${each}\n`),
  )) {
    if (header !== undefined) {
      const change = rawChange(header, text);
      header = undefined;
      if (change !== undefined && change !== null) yield { ...change, commit };
    } else if (text.startsWith(":")) header = text;
    else commit = text.trim();
  }
}

async function* messages(root: string, commits: readonly string[]): AsyncGenerator<Job> {
  const args = ["log", "--no-walk=unsorted", "--stdin", "-z", "--format=%H%n%B"];
  for await (const text of gitTexts(
    root,
    args,
    commits.map((each) => `${each}\n`),
  )) {
    const end = text.indexOf("\n");
    if (end < 0) continue;
    const bytes = Buffer.from(text.slice(end + 1));
    yield { source: { from: "bytes", bytes }, path: "commit message", pathBelow: "", commit: text.slice(0, end) };
  }
}

async function* tags(root: string): AsyncGenerator<Job> {
  const args = ["for-each-ref", "--format=%(objecttype) %(objectname) %(refname:short)", "refs/tags"];
  for (const line of (await git(root, args)).toString().split("\n")) {
    const [, oid, name = ""] = /^tag ([0-9a-f]+) (.*)$/.exec(line) ?? [];
    if (oid !== undefined)
      yield { source: { from: "blob", directory: root, oid }, path: `message of tag ${name}`, pathBelow: "" };
  }
}

/** The occurrences on lines that a commit adds, which none of its parents has. */
async function addedBy(
  root: string,
  { commit, path, before, after }: Appearance,
  occurrences: readonly Occurrence[],
): Promise<Occurrence[]> {
  const lines = await Promise.all(before.map((each) => addedLines(root, each, after)));
  return occurrences
    .filter((each) => lines.every((added) => standsOnAdded(each, added)))
    .map((each) => {
      const inner = each.location.path.indexOf("!/");
      const shown = inner < 0 ? path : `${path}${each.location.path.slice(inner)}`;
      return { ...each, location: { ...each.location, path: shown, commit } };
    });
}
