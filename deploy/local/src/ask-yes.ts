import { createInterface } from "node:readline/promises";

/** Asks a person at the terminal; whether the answer is `yes`. Ctrl-C, Ctrl-D and any other answer are no. */
export async function askYes(question: string): Promise<boolean> {
  const terminal = createInterface({ input: process.stdin, output: process.stderr });
  try {
    return (await terminal.question(`${question} Type yes: `)).trim() === "yes";
  } catch (error) {
    if (!(error instanceof Error && error.name === "AbortError")) throw error;
    process.stderr.write("\n");
    return false;
  } finally {
    terminal.close();
  }
}
