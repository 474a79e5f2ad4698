import type { Job } from "@coffer/scan";
import { addedLines, standsOnAdded } from "./added-lines.ts";
import { cannotScan } from "./exit-codes.ts";
import { git, type Repository, tryGit } from "./git.ts";
import type { Input } from "./input.ts";
import { changesOf } from "./raw-changes.ts";

/**
 * The lines that the next commit would add. The whole blob is scanned, so that keys of several
 * lines are found.
 */
export async function stagedInput(
  repository: Repository | null,
  isExcluded: (path: string) => boolean,
): Promise<Input> {
  if (repository === null) throw cannotScan("--staged needs a git repository");
  const { root } = repository;
  const head = await tryGit(root, ["rev-parse", "--quiet", "--verify", "HEAD"]);
  const parent =
    "output" in head ? "HEAD" : (await git(root, ["hash-object", "-t", "tree", "--stdin"])).toString().trim();
  const raw = await git(root, [
    "diff-index",
    "--cached",
    "--raw",
    "-z",
    "-r",
    "--no-abbrev",
    "--no-renames",
    parent,
    "--",
  ]);
  const befores = new Map<Job, string>();
  for (const { path, before, after } of changesOf(raw.toString("utf8").split("\0"))) {
    if (isExcluded(path)) continue;
    befores.set({ source: { from: "blob", directory: root, oid: after }, path, pathBelow: path }, before[0] ?? "");
  }
  return {
    jobs: [...befores.keys()],
    small: befores.size <= 400,
    problems: [],
    whole: false,
    accept: async (job, { occurrences }) => {
      if (occurrences.length === 0 || job.source.from !== "blob") return [];
      const lines = await addedLines(root, befores.get(job) ?? "", job.source.oid);
      return occurrences.filter((each) => standsOnAdded(each, lines));
    },
  };
}
