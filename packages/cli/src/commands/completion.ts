import type { Call } from "../command-row.ts";
import { completionScript, shells } from "../completion-script.ts";
import { usage } from "../failure.ts";
import { print } from "../output.ts";

/** `coffer completion <shell>`: prints the shell's completion, which asks nobody anything. */
export function completion({ args: [name = ""] }: Call<object>): Promise<void> {
  const shell = shells.find((one) => one === name);
  if (shell === undefined) throw usage(`there is completion for ${shells.join(", ")}, not for ${name}`);
  print(completionScript(shell));
  return Promise.resolve();
}
