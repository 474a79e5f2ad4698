import { containerKindOf } from "./containers/container-kind.ts";
import type { ContainerKind } from "./containers/container-kind.ts";
import type { UnpackLimits } from "./containers/limits.ts";
import { UnpackBudget, UnpackLimitError } from "./containers/limits.ts";
import { toUtf8, wideEncodingOf } from "./decode/unicode.ts";
import type { Engine } from "./engine/create-engine.ts";
import type { ScanOptions, ScanResult } from "./scan-plain.ts";
import { scanPlain } from "./scan-plain.ts";

export interface BytesOptions extends ScanOptions {
  /** Search the printable runs of binary files too. */
  binary?: boolean;
  limits?: UnpackLimits;
  /** What may come out of several files together, in place of limits for each. */
  budget?: UnpackBudget;
}

export interface BytesResult extends ScanResult {
  /** The paths of binary files that were not searched. */
  binary: string[];
}

const looksBinaryWithin = 8_000;

/**
 * Scans the bytes of one file: text in any encoding, or a container with files in it. Never throws
 * for what the bytes are: what cannot be read becomes a problem with its path.
 */
export async function scanBytes(engine: Engine, bytes: Buffer, options: BytesOptions): Promise<BytesResult> {
  const result: BytesResult = { occurrences: [], problems: [], binary: [] };
  const budget = options.budget ?? new UnpackBudget(bytes.length, options.limits);
  await scanInto(engine, bytes, options, budget, 0, result);
  return result;
}

/** Whether bytes are text of one byte for each ASCII character, which may be scanned in pieces. */
export function isPlainText(head: Buffer): boolean {
  return (
    containerKindOf(head) === undefined &&
    wideEncodingOf(head) === undefined &&
    !head.subarray(0, looksBinaryWithin).includes(0)
  );
}

async function scanInto(
  engine: Engine,
  bytes: Buffer,
  options: BytesOptions,
  budget: UnpackBudget,
  depth: number,
  result: BytesResult,
): Promise<void> {
  const kind = containerKindOf(bytes);
  if (kind !== undefined && depth < budget.depth) {
    await scanContainer(engine, kind, bytes, options, budget, depth, result);
    return;
  }
  if (kind !== undefined)
    result.problems.push({ path: options.path, message: `is a container inside ${budget.depth} others: not opened` });
  scanText(engine, bytes, options, result);
}

/** Scans what is no container. */
function scanText(engine: Engine, bytes: Buffer, options: BytesOptions, result: BytesResult): void {
  const encoding = wideEncodingOf(bytes);
  if (encoding !== undefined) {
    add(result, scanPlain(engine, { bytes: toUtf8(bytes, encoding), openStart: false, openEnd: false }, options));
    return;
  }
  if (bytes.subarray(0, looksBinaryWithin).includes(0)) {
    if (options.binary !== true) {
      result.binary.push(options.path);
      return;
    }
    add(result, scanPlain(engine, { bytes: wideStrings(bytes), openStart: false, openEnd: false }, options));
  }
  const hasMark = bytes[0] === 0xef && bytes[1] === 0xbb && bytes[2] === 0xbf;
  const cut = { bytes: hasMark ? bytes.subarray(3) : bytes, openStart: false, openEnd: false };
  add(result, scanPlain(engine, cut, options));
}

/** The strings of two bytes a character in a binary file, in one byte a character and one below the other. */
function wideStrings(bytes: Buffer): Buffer {
  const strings = bytes
    .toString("latin1")
    .split("\0\0")
    .flatMap((part) => (part.length >= 16 ? [part.replaceAll("\0", "")] : []));
  return Buffer.from(strings.join("\n"), "latin1");
}

async function scanContainer(
  engine: Engine,
  kind: ContainerKind,
  bytes: Buffer,
  options: BytesOptions,
  budget: UnpackBudget,
  depth: number,
  result: BytesResult,
): Promise<void> {
  const { unpack } = await import("./containers/unpack.ts");
  try {
    for await (const member of await unpack(kind, bytes, budget)) {
      const path = member.name === undefined ? options.path : `${options.path}!/${member.name}`;
      const pathBelow =
        member.name === undefined ? options.pathBelow : `${options.pathBelow ?? options.path}!/${member.name}`;
      if ("message" in member) result.problems.push({ path, message: member.message });
      else {
        const inner = { ...options, path, ...(pathBelow === undefined ? {} : { pathBelow }) };
        await scanInto(engine, member.bytes, inner, budget, depth + 1, result);
      }
    }
  } catch (error) {
    const reason = error instanceof Error ? error.message : "damaged";
    const message = error instanceof UnpackLimitError ? reason : `is no whole ${kind} file: ${reason}`;
    result.problems.push({ path: options.path, message });
    // A damaged file may still hold text.
    if (!(error instanceof UnpackLimitError)) scanText(engine, bytes, options, result);
  }
}

function add(result: BytesResult, { occurrences, problems }: ScanResult): void {
  // A file may hold more of them than a call has arguments.
  for (const occurrence of occurrences) result.occurrences.push(occurrence);
  for (const problem of problems) result.problems.push(problem);
}
