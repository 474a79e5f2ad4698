import { readFileSync } from "node:fs";
import { onPath } from "./on-path.ts";
import { StoreError } from "./store.ts";

/** Whom Postgres runs as when we are root, whom it refuses; `null` when we are not. Throws StoreError. */
export function serverUser(): { uid: number; gid: number } | null {
  if (process.getuid?.() !== 0) return null;
  const line = readFileSync("/etc/passwd", "utf8")
    .split("\n")
    .find((entry) => entry.startsWith("nobody:"));
  const [, , uid, gid] = line?.split(":") ?? [];
  if (uid === undefined || gid === undefined) {
    throw new StoreError("Postgres does not run as root and there is no user nobody: start as another user");
  }
  return { uid: Number(uid), gid: Number(gid) };
}

/**
 * The command line that runs one of Postgres's programs as we are, or, when we are root, as `nobody` with the one
 * capability that lets it pass through folders of root. With a death signal, the kernel ends it when we are gone.
 */
export function asServerUser(command: string[], { deathSignal }: { deathSignal?: string } = {}): string[] {
  const user = serverUser();
  const setpriv = onPath("setpriv");
  if (setpriv === null) {
    if (user === null) return command;
    throw new StoreError("Postgres does not run as root: install setpriv (util-linux), or start as another user");
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
          "--inh-caps=-all,+dac_override",
          "--ambient-caps=-all,+dac_override",
          "--bounding-set=-all,+dac_override",
        ];
  return [setpriv, ...identity, ...tied, "--", ...command];
}
