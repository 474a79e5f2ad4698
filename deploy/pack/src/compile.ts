import { spawnSync } from "node:child_process";
import { mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join, resolve } from "node:path";

const checkout = resolve(import.meta.dirname, "../../..");

/**
 * Compiles a package's `src` to JavaScript and types below `dist`, for Node from 20 on and for bundlers.
 * Throws an Error with the compiler's messages.
 */
export function compile(folder: string): void {
  const dist = join(folder, "dist");
  rmSync(dist, { recursive: true, force: true });
  mkdirSync(dist);
  const project = join(dist, "tsconfig.json");
  writeFileSync(project, JSON.stringify(projectOf(folder)));
  const tsc = join(checkout, "node_modules/.bin/tsc");
  // The compiler does not start with some loaders of the caller, such as a test runner's.
  const { status, stdout, stderr, error } = spawnSync("env", ["-u", "NODE_OPTIONS", tsc, "-p", project], {
    encoding: "utf8",
  });
  rmSync(project);
  if (error !== undefined) throw error;
  if (status !== 0) throw new Error(`${folder} cannot be compiled:\n${stdout}${stderr}`);
  // The compiler rewrites module names only in code.
  for (const name of readdirSync(dist, { recursive: true, encoding: "utf8" }))
    if (name.endsWith(".d.ts")) rewriteTypes(join(dist, name));
}

function projectOf(folder: string): unknown {
  return {
    extends: join(checkout, "tsconfig.base.json"),
    compilerOptions: {
      noEmit: false,
      declaration: true,
      rootDir: join(folder, "src"),
      outDir: join(folder, "dist"),
      // The version of Node 20.
      target: "es2023",
      lib: ["es2023", "es2024.string"],
    },
    include: [join(folder, "src")],
  };
}

function rewriteTypes(path: string): void {
  const text = readFileSync(path, "utf8");
  writeFileSync(path, text.replace(/(\bfrom |\bimport\()"(\.{1,2}\/[^"]+)\.ts"/g, '$1"$2.js"'));
}
