import { ConfigurationError } from "@coffer/env";
import { CopyRefused, StoreError } from "@coffer/stores";
import { StartupError } from "../startup-error.ts";

export const report = (line: string): void => void process.stderr.write(`coffer: ${line}\n`);

/** Runs a command to its end, which is exit code 0, or 1 with one line that says why. */
export async function runCommand(command: () => Promise<void>): Promise<void> {
  try {
    await command();
    process.exit(0);
  } catch (error) {
    const expected = [StartupError, StoreError, ConfigurationError, CopyRefused].some((kind) => error instanceof kind);
    report(expected ? (error as Error).message : String(error instanceof Error ? error.stack : error));
    process.exit(1);
  }
}
