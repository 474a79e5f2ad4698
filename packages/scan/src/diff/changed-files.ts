import type { Occurrence } from "../finding.ts";

/** A file of a diff as it is scanned. */
export interface ChangedFile {
  path: string;
  /** The new lines, as far as the diff has them. */
  bytes: Buffer;
  /**
   * An occurrence in `bytes` with the line numbers of the new file; nothing when no added line has
   * a part of it.
   */
  place(occurrence: Occurrence): Occurrence[];
}

/** The new lines of a file, as far as a diff has them. */
interface NewLines {
  path: string;
  lines: string[];
  /** For each line its number in the new file; 0 for what stands between two hunks. */
  numbers: number[];
  added: Set<number>;
}

/** The files of a unified diff with their added lines; null for a text that is no diff. */
export function changedFiles(diff: Buffer): ChangedFile[] | null {
  const text = diff.toString("latin1");
  const files = filesOf(text);
  if (files.length === 0 && text.trim() !== "" && !/^(?:diff --git|Binary files|--- )/m.test(text)) return null;
  return files.map((file) => ({
    path: file.path,
    bytes: Buffer.from(`${file.lines.join("\n")}\n`, "latin1"),
    place: (occurrence) => placed(occurrence, file),
  }));
}

function placed(occurrence: Occurrence, { numbers, added }: NewLines): Occurrence[] {
  const { location } = occurrence;
  const touched = numbers.slice(location.start_line - 1, location.end_line);
  if (!touched.some((number) => added.has(number))) return [];
  const [start = 0] = touched;
  return [{ ...occurrence, location: { ...location, start_line: start, end_line: touched.at(-1) ?? start } }];
}

function filesOf(text: string): NewLines[] {
  const files: NewLines[] = [];
  const lines = text.split("\n");
  let path: string | undefined;
  let file: NewLines | undefined;
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
  file: NewLines,
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
