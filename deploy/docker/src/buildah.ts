import { spawnSync } from "node:child_process";

/**
 * Runs buildah and returns its output; its messages go to stderr. Without a daemon, and where containers
 * cannot be nested: in a chroot and with plain folders, by default.
 */
export function buildah(args: readonly string[]): string {
  const env = { BUILDAH_ISOLATION: "chroot", STORAGE_DRIVER: "vfs", ...process.env };
  const { error, status, stdout } = spawnSync("buildah", args, { encoding: "utf8", env, stdio: ["ignore", "pipe", 2] });
  if (error !== undefined) throw new Error("buildah is needed: apt-get install buildah", { cause: error });
  if (status !== 0) throw new Error(`buildah ${args[0] ?? ""} failed: ${stdout.trim().split("\n").at(-1) ?? ""}`);
  return stdout;
}
