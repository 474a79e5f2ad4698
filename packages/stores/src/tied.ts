import { onPath } from "./on-path.ts";

/**
 * The command line that runs `command` so that the kernel ends it with this process. On systems
 * without `setpriv` (util-linux) it is the command itself: a server that a kill -9 leaves is ended by
 * the next start in the same directory.
 */
export function tiedToThisProcess(command: string[], deathSignal: NodeJS.Signals): string[] {
  const setpriv = process.platform === "linux" ? onPath("setpriv") : null;
  if (setpriv === null) return command;
  return [setpriv, `--pdeathsig=${deathSignal.slice(3)}`, "--", ...command];
}
