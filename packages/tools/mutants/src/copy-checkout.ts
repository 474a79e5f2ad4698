import { execFileSync } from "node:child_process";
import { copyFileSync, existsSync, lstatSync, mkdirSync, readdirSync, readlinkSync, symlinkSync } from "node:fs";
import { dirname, isAbsolute, join, resolve } from "node:path";

const listing = ["ls-files", "--cached", "--others", "--exclude-standard", "-z"];

/**
 * Copies the working tree of a checkout without ignored files, and links installed packages. Workspaces,
 * which are links to folders of the checkout, point into the copy.
 */
export function copyCheckout(from: string, to: string): void {
  const listed = execFileSync("git", listing, { cwd: from, encoding: "utf8", maxBuffer: 1 << 26 });
  const files = listed.split("\0").filter((file) => file !== "" && existsSync(resolve(from, file)));
  for (const folder of new Set(files.map((file) => dirname(file)))) mkdirSync(resolve(to, folder), { recursive: true });
  for (const file of files) copyFileSync(resolve(from, file), resolve(to, file));
  for (const file of files) {
    const installed = join(dirname(file), "node_modules");
    if (file.endsWith("package.json") && existsSync(resolve(from, installed)))
      linkInstalled(resolve(from, installed), resolve(to, installed));
  }
}

function linkInstalled(from: string, to: string): void {
  mkdirSync(to, { recursive: true });
  for (const name of readdirSync(from)) {
    const [source, target] = [join(from, name), join(to, name)];
    if (name.startsWith("@")) linkInstalled(source, target);
    else symlinkSync(targetOf(source), target);
  }
}

/** A workspace's link is relative, so it points to the same place of the copy. */
function targetOf(path: string): string {
  const link = lstatSync(path).isSymbolicLink() ? readlinkSync(path) : path;
  return isAbsolute(link) || link.startsWith("..") ? link : path;
}
