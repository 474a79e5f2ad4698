import { execFileSync } from "node:child_process";
import { readdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";

/** Makes the context of Dockerfile.cli in an empty folder: the tarball of `npm pack`, installed. Needs no registry. */
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
}
