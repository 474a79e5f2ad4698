import type { Job } from "@coffer/scan";
import { type ChangedFile, changedFiles } from "@coffer/scan/diff";
import { usage } from "../failure.ts";
import type { Input } from "./input.ts";

/** The lines that a unified diff adds. Throws Failure (usage) for a text that is none. */
export function diffInput(diff: Buffer, isExcluded: (path: string) => boolean): Input {
  const files = changedFiles(diff);
  if (files === null) throw usage("stdin holds no unified diff: git diff | coffer scan --diff");
  const byJob = new Map<Job, ChangedFile>();
  for (const file of files) {
    const { path, bytes } = file;
    if (!isExcluded(path)) byJob.set({ source: { from: "bytes", bytes }, path, pathBelow: path }, file);
  }
  return {
    jobs: [...byJob.keys()],
    small: true,
    problems: [],
    whole: false,
    accept: (job, { occurrences }) => occurrences.flatMap((each) => byJob.get(job)?.place(each) ?? []),
  };
}
