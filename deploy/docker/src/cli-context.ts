// cli-context.ts CONTEXT, before Docker builds Dockerfile.cli.
import { execFileSync } from "node:child_process";
import { readdirSync, writeFileSync } from "node:fs";
import { join, resolve } from "node:path";
import { pathToFileURL } from "node:url";
import { makeReadable } from "./make-readable.ts";

/**
 * Makes the context of Dockerfile.cli in an empty folder: the tarball of `npm pack`, installed.
 * Needs no registry.
 */
export function makeCliContext(checkout: string, context: string): void {
  const npm = (cwd: string, ...args: string[]): unknown =>
    execFileSync("npm", [...args, "--silent", "--no-audit", "--no-fund"], {
      cwd,
      stdio: ["ignore", "ignore", "inherit"],
    });
  npm(checkout, "pack", "--pack-destination", context);
  const tarball = readdirSync(context).find((name) => name.endsWith(".tgz")) ?? "";
  writeFileSync(join(context, "package.json"), '{ "private": true }\n');
  npm(context, "install", "--offline", "--ignore-scripts", `./${tarball}`);
  makeReadable(join(context, "node_modules"));
}

if (import.meta.url === pathToFileURL(process.argv[1] ?? "").href) {
  const [context] = process.argv.slice(2);
  if (context === undefined) throw new Error("usage: cli-context.ts CONTEXT");
  makeCliContext(resolve(import.meta.dirname, "../../.."), resolve(context));
}
