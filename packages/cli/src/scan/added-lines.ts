import type { Occurrence } from "@coffer/scan";
import { git } from "./git.ts";

/** First and last line of each stretch that a change adds, counted from 1; null when git shows no lines. */
export type AddedLines = readonly (readonly [first: number, last: number])[] | null;

const isNothing = (oid: string): boolean => /^0+$/.test(oid);

/** The lines that the blob `after` has and `before` does not. */
export async function addedLines(root: string, before: string, after: string): Promise<AddedLines> {
  if (isNothing(before)) return null;
  const args = ["diff", "-U0", "--no-color", "--no-ext-diff", "--no-textconv", "--no-renames", before, after];
  const text = (await git(root, args)).toString("latin1");
  if (/^Binary files /m.test(text)) return null;
  return [...text.matchAll(/^@@ -\S+ \+(\d+)(?:,(\d+))? @@/gm)].flatMap(([, first, count = "1"]) =>
    count === "0" ? [] : [[Number(first), Number(first) + Number(count) - 1] as const],
  );
}

/** Whether an occurrence stands, in part at least, on an added line. */
export function standsOnAdded({ location }: Occurrence, lines: AddedLines): boolean {
  // Inside a container there are no lines of the file.
  if (lines === null || location.path.includes("!/")) return true;
  return lines.some(([first, last]) => location.start_line <= last && location.end_line >= first);
}
