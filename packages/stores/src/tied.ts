import { onPath } from "./on-path.ts";

/**
 * The command line that runs `command` so that the kernel ends it when this process is gone, however that came about.
 * Where the system has no such means (`setpriv` of util-linux), the command as it is; what is then left after a
 * kill -9 is ended by the next start in the same directory.
 */
export function tiedToThisProcess(command: string[], deathSignal: NodeJS.Signals): string[] {
  const setpriv = process.platform === "linux" ? onPath("setpriv") : null;
  if (setpriv === null) return command;
  return [setpriv, `--pdeathsig=${deathSignal.slice(3)}`, "--", ...command];
}
