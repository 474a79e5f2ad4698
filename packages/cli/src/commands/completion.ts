import type { Call } from "../command-row.ts";
import { type CommandLine, completionScript, shells } from "../completion-script.ts";
import { usage } from "../failure.ts";
import { printExact } from "../output/output.ts";

/**
 * `coffer completion <shell>`: prints the shell's completion of this command line. Makes no
 * request.
 */
export function completionOf(line: CommandLine): (call: Call<object>) => Promise<void> {
  return ({ args: [name = ""] }) => {
    const shell = shells.find((one) => one === name);
    if (shell === undefined) throw usage(`there is completion for ${shells.join(", ")}, not for ${name}`);
    printExact(completionScript(shell, line));
    return Promise.resolve();
  };
}
