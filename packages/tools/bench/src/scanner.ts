import { execFileSync, spawnSync } from "node:child_process";
import { closeSync, openSync, writeSync } from "node:fs";
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { builtInRules, createEngine, scanPlain, selectRules } from "@coffer/scan";
import { interleaved, median } from "./measure.ts";
import { figureCells, type Report } from "./report.ts";
import { absoluteFigure, type Figure } from "./row.ts";
import { foundFigures, peers, type Scanner } from "./scanner-peers.ts";

const checkout = resolve(import.meta.dirname, "../../../..");
const command = join(checkout, "packages/cli/bin/coffer.mjs");
const rounds = 5;
const leastMegabytesPerSecond = 250;
const leastOnTwoCores = 400;
const largestFile = 400_000;
/**
 * The tree that the command reads is this many copies of what is in memory, so that the start does
 * not count.
 */
const copies = 10;

const report = ["--format", "json", "--show-secrets"];
const coffer: Scanner = {
  name: "coffer",
  program: command,
  files: ["scan", ...report],
  repository: [
    ["scan", ...report],
    ["scan", "--history", "--reflog", ...report],
  ],
};

/** The scanner needs no service: it is measured alone, at a tenth of its size and at full size. */
export async function scannerReports(): Promise<[tenth: Report, full: Report]> {
  return [await reportOf(4), await reportOf(40)];
}

async function reportOf(megabytes: number): Promise<Report> {
  const title = `the scanner, ${megabytes} MB of source`;
  process.stdout.write(`\n${title}\n`);
  const files = sourceTree(megabytes * 1e6);
  const folder = mkdtempSync(join(tmpdir(), "coffer-bench-scan-"));
  const others = peers();
  let figures: Figure[];
  try {
    figures = [
      await inMemory(files),
      ...(await withReading(files, others, folder)),
      await oneLine(megabytes * 5, folder),
      ...(await startUp(megabytes)),
      ...foundFigures(coffer, others, folder),
    ];
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
  for (const figure of figures) process.stdout.write(`  ${figureCells(figure).join("  ")}\n`);
  const leading = new Map([
    ["scanner: in memory on one core", (figure: string) => `the scanner reads ${figure} on one core`],
  ]);
  return { title, figures, leading };
}

/** Source, configuration and documents of the installed packages. */
function sourceTree(most: number): Buffer[] {
  const files: Buffer[] = [];
  let bytes = 0;
  const waiting = [join(checkout, "node_modules")];
  for (let folder = waiting.pop(); folder !== undefined && bytes < most; folder = waiting.pop())
    for (const entry of readdirSync(folder, { withFileTypes: true })) {
      const path = join(folder, entry.name);
      if (entry.isDirectory()) waiting.push(path);
      else if (
        entry.isFile() &&
        /\.(?:[cm]?[jt]s|json|md|c|h|ya?ml)$/.test(path) &&
        statSync(path).size < largestFile
      ) {
        files.push(readFileSync(path));
        bytes += files.at(-1)?.length ?? 0;
      }
    }
  return files;
}

/** CPU time of this thread, without other processes. */
function megabytesPerSecond(files: readonly Buffer[], search: (bytes: Buffer) => void): number {
  const total = files.reduce((sum, { length }) => sum + length, 0);
  const before = process.cpuUsage();
  for (const bytes of files) search(bytes);
  const { user, system } = process.cpuUsage(before);
  return total / (user + system);
}

async function inMemory(files: readonly Buffer[]): Promise<Figure> {
  const rules = selectRules(builtInRules, { minConfidence: "medium" });
  const engine = createEngine(rules);
  const keywords = [...new Set(rules.flatMap((rule) => rule.keywords))];
  const scan = (bytes: Buffer): void =>
    void scanPlain(engine, { bytes, openStart: false, openEnd: false }, { path: "input" });
  const indexOf = (bytes: Buffer): void => {
    for (const keyword of keywords) for (let at = bytes.indexOf(keyword); at >= 0; at = bytes.indexOf(keyword, at + 1));
  };
  const { a, b } = await interleaved(
    rounds,
    () => Promise.resolve(megabytesPerSecond(files, scan)),
    () => Promise.resolve(megabytesPerSecond(files, indexOf)),
  );
  const [value, baseline] = [median(a), median(b)];
  return {
    name: "scanner: in memory on one core",
    value,
    baseline,
    unit: "MB/s",
    ratio: value / baseline,
    target: `≥ ${leastMegabytesPerSecond} MB/s`,
    holds: value >= leastMegabytesPerSecond,
  };
}

/** Seconds of a command that ends with one of these codes. */
function secondsOf(program: string, args: readonly string[], cwd: string, codes: readonly (number | null)[]): number {
  const from = performance.now();
  const { status, error } = spawnSync(program, args, { cwd, stdio: "ignore", timeout: 600_000 });
  if (error !== undefined || !codes.includes(status)) throw new Error(`${program} ended with ${status}`);
  return (performance.now() - from) / 1000;
}

/**
 * The command on a tree of files, on two cores, beside a program that only reads them and beside
 * the other scanners.
 */
async function withReading(files: readonly Buffer[], others: readonly Scanner[], folder: string): Promise<Figure[]> {
  const tree = join(folder, "tree");
  let bytes = 0;
  for (let copy = 0; copy < copies; copy += 1) {
    mkdirSync(join(tree, `${copy}`), { recursive: true });
    files.forEach((content, index) => {
      writeFileSync(join(tree, `${copy}`, `${index}.txt`), content);
      bytes += content.length;
    });
  }
  const megabytes = bytes / 1e6;
  const { a, b } = await interleaved(
    rounds,
    () => Promise.resolve(megabytes / secondsOf(command, ["scan", "--threads", "2"], tree, [0, 1])),
    () => Promise.resolve(megabytes / secondsOf("grep", ["-r", "-c", "-F", "AKIA", "."], tree, [0, 1])),
  );
  const value = median(a);
  const figure = (name: string, unit: string, speed: number): Figure => ({
    ...{ name, value, unit, baseline: speed, ratio: value / speed, target: "–", holds: null },
  });
  const beside = others.map((scanner) => {
    const speed = megabytes / copies / secondsOf(scanner.program, scanner.files, join(tree, "0"), [0, 1, 183]);
    return figure(`scanner: the same beside ${scanner.name}`, "MB/s", speed);
  });
  const own = figure(
    `scanner: ${megabytes.toFixed(0)} MB of files on two cores, beside grep for one text`,
    "MB/s",
    median(b),
  );
  const bound = { target: `≥ ${leastOnTwoCores} MB/s`, holds: value >= leastOnTwoCores };
  return [{ ...own, ...bound }, ...beside];
}

/** The command on a file of one line, beside grep for one text. */
async function oneLine(megabytes: number, folder: string): Promise<Figure> {
  const place = join(folder, "line");
  mkdirSync(place);
  const part = Buffer.alloc(1_000_000, "var a=1;");
  const file = openSync(join(place, "line.js"), "w");
  for (let index = 0; index < megabytes; index += 1) writeSync(file, part);
  closeSync(file);
  const { a, b } = await interleaved(
    rounds,
    () => Promise.resolve(megabytes / secondsOf(command, ["scan", "--max-file-mb", "0", "line.js"], place, [0])),
    () => Promise.resolve(megabytes / secondsOf("grep", ["-c", "-F", "AKIA", "line.js"], place, [0, 1])),
  );
  const [value, baseline] = [median(a), median(b)];
  return {
    ...{ name: `scanner: one line of ${megabytes} MB, beside grep for one text`, value, baseline, unit: "MB/s" },
    ...{
      ratio: value / baseline,
      target: `≥ ${leastMegabytesPerSecond} MB/s`,
      holds: value >= leastMegabytesPerSecond,
    },
  };
}

/** The whole command, on one line of stdin and on a staged change of 20 files. */
async function startUp(size: number): Promise<Figure[]> {
  const root = mkdtempSync(join(tmpdir(), "coffer-bench-scan-"));
  try {
    const git = (...args: string[]): void =>
      void execFileSync("git", ["-c", "user.name=a", "-c", "user.email=a@example.com", ...args], { cwd: root });
    git("init", "-q");
    mkdirSync(join(root, "src"));
    const change = (text: string): void => {
      for (let index = 0; index < size / 2; index += 1)
        writeFileSync(
          join(root, "src", `${index}.ts`),
          `${"export const value = compute(left, right);\n".repeat(200)}${text}\n`,
        );
      git("add", "-A");
    };
    change("// before");
    git("commit", "-q", "-m", "before");
    change("// after");
    const timed = (program: string, args: string[]) => (): Promise<number> => {
      const from = performance.now();
      const { status } = spawnSync(program, args, { cwd: root, input: "a line\n" });
      if (status !== 0) throw new Error(`${program} ended with ${status}: nothing was measured`);
      return Promise.resolve(performance.now() - from);
    };
    const start = await interleaved(
      rounds,
      timed(process.execPath, [command, "scan", "--stdin"]),
      timed(process.execPath, ["-e", "0"]),
    );
    const staged = await interleaved(
      rounds,
      timed(process.execPath, [command, "scan", "--staged"]),
      timed("git", ["diff", "--cached", "--stat"]),
    );
    return [
      absoluteFigure("scanner: start to end on one line", "ms", median(start.a), 100, median(start.b)),
      absoluteFigure("scanner: staged diff", "ms", median(staged.a), 150, median(staged.b)),
    ];
  } finally {
    rmSync(root, { recursive: true, force: true });
  }
}
