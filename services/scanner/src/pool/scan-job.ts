import {
  builtInRules,
  type BytesOptions,
  type BytesResult,
  createEngine,
  type Problem,
  scanBytes,
  selectRules,
  UnpackBudget,
} from "@coffer/scan";
import { changedFiles } from "@coffer/scan/diff";
import type { Job, Part, Room, ScanDocument } from "./job.ts";

const mebibyte = 1024 * 1024;
/** The limits of the unpacked containers of a request, in total. */
const limits = { bytes: 32 * mebibyte, ratio: 20, ratioFrom: mebibyte, members: 1_000, depth: 4 };
const mostProblems = 100;
const mostPath = 1_024;
const mostDiffFiles = 10_000;
/** The length of a place in an answer, without its path. */
const placeBytes = 400;

const engine = createEngine(selectRules(builtInRules, { minConfidence: "medium" }));

/** The room that a job has left, and the problems so far. */
interface Left extends Room {
  problems: number;
  budget: UnpackBudget;
}

/**
 * Scans the documents and then the diff, and yields the findings of each; null for a text that is
 * not a diff.
 */
export async function* scanJob({ documents, diff, room }: Job): AsyncGenerator<Part | null> {
  const sent = documents.reduce((sum, { content }) => sum + content.length, 0);
  const left: Left = { ...room, problems: mostProblems, budget: new UnpackBudget(sent, limits) };
  for (const document of documents) yield await scanDocument(document, left);
  if (diff !== undefined) yield await scanDiff(diff, left);
}

async function scanDocument({ path, content, encoding = "utf8" }: ScanDocument, left: Left): Promise<Part> {
  const bytes = Buffer.from(content, encoding);
  return partOf(await scanBytes(engine, bytes, optionsOf(path, left)), 1, bytes.length, left);
}

async function scanDiff(diff: string, left: Left): Promise<Part | null> {
  const files = changedFiles(Buffer.from(diff));
  if (files === null) return null;
  const all: BytesResult = { occurrences: [], problems: [], binary: [] };
  let scanned = 0;
  for (const { path, bytes, place } of files.slice(0, mostDiffFiles)) {
    const { occurrences, problems, binary } = await scanBytes(engine, bytes, optionsOf(path, left));
    // A document may hold more of them than a call has arguments.
    for (const occurrence of occurrences.flatMap(place)) all.occurrences.push(occurrence);
    for (const problem of problems) all.problems.push(problem);
    for (const path of binary) all.binary.push(path);
    scanned += bytes.length;
  }
  if (files.length > mostDiffFiles)
    all.problems.push({
      path: "diff",
      message: `changes more than ${mostDiffFiles} files: the others were not scanned`,
    });
  return partOf(all, Math.min(files.length, mostDiffFiles), scanned, left);
}

function optionsOf(path: string, { budget, occurrences }: Left): BytesOptions {
  return { path, budget, mostOccurrences: occurrences };
}

/** As much of a result as the answer still has room for. */
function partOf({ occurrences, problems, binary }: BytesResult, inputs: number, bytes: number, left: Left): Part {
  const part: Part = { occurrences: [], problems: [], inputs, bytes, binary: binary.length };
  const reported = occurrences.filter(({ confidence }) => confidence !== "low");
  for (const occurrence of reported) {
    if (!takePlace(occurrence.location.path, left)) break;
    part.occurrences.push(occurrence);
  }
  for (const problem of problems.slice(0, left.problems)) part.problems.push(shortened(problem));
  left.problems -= part.problems.length;
  const first = reported[part.occurrences.length];
  if (first !== undefined)
    part.problems.push(shortened({ path: first.location.path, message: "holds more secrets than an answer does" }));
  return part;
}

/** The path of a member of an archive may be as long as the archive's maker likes. */
function shortened({ path, message }: Problem): Problem {
  return { path: path.length > mostPath ? `${path.slice(0, mostPath)}…` : path, message: message.slice(0, mostPath) };
}

/** Whether there is room for one place more. */
function takePlace(path: string, left: Room): boolean {
  const bytes = placeBytes + Buffer.byteLength(path);
  if (left.occurrences === 0 || left.bytes < bytes) return false;
  left.occurrences -= 1;
  left.bytes -= bytes;
  return true;
}
