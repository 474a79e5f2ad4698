import { chmodSync, copyFileSync, existsSync } from "node:fs";
import { join } from "node:path";

/** The platforms of the executables of a release, as Node names them. */
export const platforms = ["linux-x64", "linux-arm64", "darwin-arm64", "darwin-x64"] as const;

/** The name of an executable; without a platform, of the one for this machine. */
export function executableName(version: string, platform = `${process.platform}-${process.arch}`): string {
  return `coffer-${version}-${platform}`;
}

/** Copies the executable of each platform from a folder. Throws for a missing one. */
export function copyExecutables(version: string, from: string, out: string): void {
  for (const platform of platforms) {
    const name = executableName(version, platform);
    if (!existsSync(join(from, name))) throw new Error(`${from} has no ${name}: build it on that platform first`);
    copyFileSync(join(from, name), join(out, name));
    chmodSync(join(out, name), 0o755);
  }
}
