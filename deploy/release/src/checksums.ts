import { createHash } from "node:crypto";
import { existsSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";

const sums = "SHA256SUMS";

const sumOf = (path: string): string => createHash("sha256").update(readFileSync(path)).digest("hex");

const filesOf = (folder: string): string[] =>
  readdirSync(folder)
    .filter((name) => !name.startsWith(sums))
    .sort();

/** Writes SHA256SUMS of a folder's files, in the form of `sha256sum`. */
export function writeChecksums(folder: string): void {
  writeFileSync(
    join(folder, sums),
    filesOf(folder)
      .map((name) => `${sumOf(join(folder, name))}  ${name}\n`)
      .join(""),
  );
}

/** The files of a folder that differ from its SHA256SUMS, are not in it or are missing, with what to do. */
export function checksumProblems(folder: string): string[] {
  if (!existsSync(join(folder, sums))) return [`${folder} has no ${sums}: download it with the files`];
  const lines = readFileSync(join(folder, sums), "utf8")
    .split("\n")
    .filter((line) => line !== "");
  const expected = new Map(lines.map((line) => [line.slice(66), line.slice(0, 64)]));
  const present = new Set(filesOf(folder));
  return [
    ...[...expected].flatMap(([name, sum]) => {
      if (!present.has(name)) return [`${name} is missing: download it again`];
      if (sumOf(join(folder, name)) !== sum) return [`${name} is not the file of ${sums}: do not use it`];
      return [];
    }),
    ...[...present].filter((name) => !expected.has(name)).map((name) => `${name} is not in ${sums}: do not use it`),
  ];
}
