import { endContainer, isDocker } from "./docker.ts";
import { locate, type ServerProgram } from "./locate.ts";
import { endServersIn } from "./processes.ts";
import { reachableCommand } from "./reachable-programs.ts";
import type { ServerPlan } from "./run-server.ts";
import { openStoreDirectory } from "./store-directory.ts";

export interface OpenedProgram {
  /** The absolute path of the server's directory. */
  here: string;
  /** The command line that starts the program, or runs it in a container. */
  program: string[];
  contained: boolean;
  /** What `runServer` needs to know of the program. */
  plan: Pick<ServerPlan, "name" | "directory" | "logDirectory" | "afterExit" | "onKill" | "contained">;
}

/**
 * Opens the directory of a server, ends the server of an earlier run in it, and finds the program.
 * `command` is the result of `locate`, which is called by default. Throws StoreError.
 */
export async function openProgram(
  name: ServerProgram,
  { directory, command }: { directory: string; command: string[] | undefined },
): Promise<OpenedProgram> {
  const here = openStoreDirectory(directory);
  const located = command ?? (await locate(name));
  const contained = isDocker(located);
  const clear = (): Promise<void> => {
    if (contained) endContainer(located, here);
    return endServersIn(here);
  };
  await clear();
  const program = contained ? located : reachableCommand(located, here);
  const plan = { name, directory: here, logDirectory: here, afterExit: clear, contained };
  const onKill = () => endContainer(program, here);
  return { here, program, contained, plan: contained ? { ...plan, onKill } : plan };
}
