import { createHash } from "node:crypto";
import { readFileSync } from "node:fs";
import { join } from "node:path";

export const manifestName = "manifest.json";

/** How a file is stored: as it is, or compressed when it was built. */
export const codings = ["identity", "br", "gzip"] as const;
export type Coding = (typeof codings)[number];

/** One file of the console. */
export interface ManifestFile {
  /** Its path below the address of the console, such as `assets/page.ABC.js`. */
  path: string;
  /** `page`, `worker`, or any other file. They get different headers. */
  kind: "page" | "worker" | "asset";
  type: string;
  /** Those that do not depend on the request. */
  headers: Readonly<Record<string, string>>;
  /** Lower-case hex SHA-256 of each stored form. */
  sha256: { identity: string; br?: string | undefined; gzip?: string | undefined };
}

/** The files of a build. A release publishes the list. */
export interface Manifest {
  version: 2;
  /** Lower-case hex SHA-256 of the sources and of the locked dependencies. */
  sources: string;
  /** The paths that answer with the page. */
  pages: readonly string[];
  files: ManifestFile[];
}

/** A file in memory, with its stored forms. */
export interface BuiltFile extends Omit<ManifestFile, "sha256"> {
  forms: ReadonlyMap<Coding, Buffer>;
}

/** The console cannot be served: the message names the folder or file and what to do. */
export class ConsoleFilesError extends Error {}

const suffixes: Record<Coding, string> = { identity: "", br: ".br", gzip: ".gz" };

/** Where a form of a file is stored in the folder of a build. */
export function storedPath(path: string, coding: Coding): string {
  return path + suffixes[coding];
}

export function sha256(bytes: Uint8Array): string {
  return createHash("sha256").update(bytes).digest("hex");
}

/**
 * Reads a build into memory.
 * @throws ConsoleFilesError without a manifest, and for a file that is missing or has another hash
 */
export function readBuild(folder: string): BuiltFile[] {
  const manifest = readManifest(folder);
  return manifest.files.map(({ sha256: hashes, ...file }) => {
    const forms = new Map<Coding, Buffer>();
    for (const coding of codings) {
      const expected = hashes[coding];
      if (expected !== undefined) forms.set(coding, readForm(folder, storedPath(file.path, coding), expected));
    }
    return { ...file, forms };
  });
}

function readForm(folder: string, path: string, expected: string): Buffer {
  const bytes = readBytes(folder, path);
  if (sha256(bytes) !== expected)
    throw new ConsoleFilesError(
      `${join(folder, path)} is not the file that the manifest names: build the console again`,
    );
  return bytes;
}

/** @throws ConsoleFilesError without a readable manifest */
export function readManifest(folder: string): Manifest {
  const bytes = readBytes(folder, manifestName);
  try {
    const manifest = JSON.parse(bytes.toString()) as Manifest; // written by the build
    if ((manifest.version as number) === 2 && Array.isArray(manifest.files)) return manifest;
  } catch {
    // Reported below.
  }
  throw new ConsoleFilesError(`${join(folder, manifestName)} is no manifest of this version: build the console again`);
}

function readBytes(folder: string, path: string): Buffer {
  try {
    return readFileSync(join(folder, path));
  } catch (cause) {
    const { code = "failed" } = cause as NodeJS.ErrnoException; // an error of the file system
    throw new ConsoleFilesError(`${join(folder, path)} cannot be read (${code}): build the console`, { cause });
  }
}
