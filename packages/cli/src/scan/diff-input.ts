import type { Job, Occurrence } from "@coffer/scan";
import { usage } from "../failure.ts";
import type { Input } from "./input.ts";

/** A file of a diff: its new lines, as far as the diff has them. */
interface ChangedFile {
  path: string;
  lines: string[];
  /** For each line its number in the new file; 0 for what stands between two hunks. */
  numbers: number[];
  added: Set<number>;
}

/** The lines that a unified diff adds. Throws Failure (usage) for a text that is none. */
export function diffInput(diff: Buffer, isExcluded: (path: string) => boolean): Input {
  const text = diff.toString("latin1");
  const files = changedFiles(text);
  if (files.length === 0 && text.trim() !== "" && !/^(?:diff --git|Binary files|--- )/m.test(text))
    throw usage("stdin holds no unified diff: git diff | coffer scan --diff");
  const byJob = new Map<Job, ChangedFile>();
  for (const file of files) {
    if (isExcluded(file.path)) continue;
    const bytes = Buffer.from(`${file.lines.join("\n")}\n`, "latin1");
    byJob.set({ source: { from: "bytes", bytes }, path: file.path, pathBelow: file.path }, file);
  }
  return {
    jobs: [...byJob.keys()],
    small: true,
    problems: [],
    whole: false,
    accept: (job, { occurrences }) => {
      const file = byJob.get(job);
      return file === undefined ? [] : occurrences.flatMap((each) => placed(each, file));
    },
  };
}

/** An occurrence with the line numbers of the new file; nothing when no added line has a part of it. */
function placed(occurrence: Occurrence, { numbers, added }: ChangedFile): Occurrence[] {
  const { location } = occurrence;
  const touched = numbers.slice(location.start_line - 1, location.end_line);
  if (!touched.some((number) => added.has(number))) return [];
  const [start = 0] = touched;
  return [{ ...occurrence, location: { ...location, start_line: start, end_line: touched.at(-1) ?? start } }];
}

function changedFiles(text: string): ChangedFile[] {
  const files: ChangedFile[] = [];
  const lines = text.split("\n");
  let path: string | undefined;
  let file: ChangedFile | undefined;
  for (let at = 0; at < lines.length; at += 1) {
    const line = lines[at] ?? "";
    if (line.startsWith("+++ ")) {
      path = pathOf(line.slice(4));
      file = undefined;
      continue;
    }
    const hunk = /^(@@+) (?:-\d+(?:,\d+)? )+\+(\d+)(?:,(\d+))? @@/.exec(line);
    if (hunk === null || path === undefined) continue;
    if (file === undefined) files.push((file = { path, lines: [], numbers: [], added: new Set() }));
    const parents = (hunk[1]?.length ?? 2) - 1;
    at = readHunk(lines, at + 1, parents, Number(hunk[2]), Number(hunk[3] ?? "1"), file);
  }
  return files;
}

/** Reads the lines of a hunk; returns the index of the last one. */
function readHunk(
  lines: readonly string[],
  start: number,
  parents: number,
  firstNumber: number,
  count: number,
  file: ChangedFile,
): number {
  if (file.lines.length > 0) {
    file.lines.push("");
    file.numbers.push(0);
  }
  let number = firstNumber;
  let at = start;
  for (; number < firstNumber + count && at < lines.length; at += 1) {
    const line = lines[at] ?? "";
    if (line.startsWith("\\")) continue;
    const signs = line.slice(0, parents);
    if (signs.includes("-")) continue;
    file.lines.push(line.slice(parents));
    file.numbers.push(number);
    if (signs.includes("+")) file.added.add(number);
    number += 1;
  }
  return at - 1;
}

/** The path behind `+++ `, without the prefix `b/`; undefined for a file that is gone. */
function pathOf(text: string): string | undefined {
  const bare = text.replace(/\t.*$/, "").replace(/\r$/, "");
  const path = bare.startsWith('"') ? unquoted(bare) : Buffer.from(bare, "latin1").toString("utf8");
  return path === "/dev/null" ? undefined : path.replace(/^[a-z]\//, "");
}

/** A path as git quotes it, with octal escapes. */
function unquoted(text: string): string {
  const bytes = text.slice(1, -1).replace(/\\([0-7]{3}|.)/g, (_all, code: string) => {
    if (code.length === 3) return String.fromCharCode(Number.parseInt(code, 8));
    return { n: "\n", t: "\t", r: "\r" }[code] ?? code;
  });
  return Buffer.from(bytes, "latin1").toString("utf8");
}
