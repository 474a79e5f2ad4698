import { spawnSync } from "node:child_process";
import { chownSync, readFileSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { onPath } from "./on-path.ts";
import { StoreError } from "./store.ts";

export interface ServerUser {
  name: string;
  uid: number;
  gid: number;
}

/** The unprivileged user of stores if this process is root; null if it is not. Throws StoreError. */
export function serverUser(): ServerUser | null {
  if (process.getuid?.() !== 0) return null;
  const name = "nobody";
  const line = readFileSync("/etc/passwd", "utf8")
    .split("\n")
    .find((entry) => entry.startsWith(`${name}:`));
  const [, , uid, gid] = line?.split(":") ?? [];
  if (uid === undefined || gid === undefined) {
    throw new StoreError(`stores do not run as root and there is no user ${name}: start as another user`);
  }
  return { name, uid: Number(uid), gid: Number(gid) };
}

/**
 * The command line that runs a program as this process's user or, for root, as the unprivileged user
 * with no capability and no way to gain one. With a death signal, the kernel ends it with this
 * process. Throws StoreError.
 */
export function asServerUser(command: readonly string[], { deathSignal }: { deathSignal?: string } = {}): string[] {
  const user = serverUser();
  const setpriv = onPath("setpriv");
  if (setpriv === null) {
    if (user === null) return [...command];
    throw new StoreError("stores do not run as root: install setpriv (util-linux), or start as another user");
  }
  const tied = deathSignal === undefined ? [] : [`--pdeathsig=${deathSignal}`];
  const identity =
    user === null
      ? []
      : [
          `--reuid=${user.uid}`,
          `--regid=${user.gid}`,
          "--clear-groups",
          "--no-new-privs",
          "--inh-caps=-all",
          "--ambient-caps=-all",
          "--bounding-set=-all",
        ];
  return [setpriv, ...identity, ...tied, "--", ...command];
}

/** Whether the unprivileged user may enter a folder, or run a program; always true without root. */
export function isReachable(path: string): boolean {
  if (serverUser() === null) return true;
  const [program = "", ...args] = asServerUser(["test", "-x", path]);
  return spawnSync(program, args, { stdio: "ignore", cwd: "/" }).status === 0;
}

/** Writes a file that only the server may read, in a folder that the server cannot change. */
export function writeServerFile(path: string, content: string): void {
  const user = serverUser();
  const next = `${path}.new`;
  rmSync(next, { force: true });
  writeFileSync(next, content, { mode: 0o600, flag: "wx" });
  if (user !== null) chownSync(next, user.uid, user.gid);
  renameSync(next, path);
}
