import { createInterface } from "node:readline/promises";

/** Asks for confirmation at the terminal; only the answer `yes` confirms. Ctrl-C and Ctrl-D do not. */
export async function isConfirmed(question: string): Promise<boolean> {
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
