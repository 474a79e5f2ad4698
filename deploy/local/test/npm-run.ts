import { execFile } from "node:child_process";
import { checkout } from "../src/checkout.ts";

export interface RunOutcome {
  code: number;
  stdout: string;
  stderr: string;
}

/** Runs `npm run <name> -- <args>` on a data directory to its end. */
export function npmRun(name: string, args: readonly string[], directory: string): Promise<RunOutcome> {
  const inherited = Object.entries(process.env).filter(([name]) => !/^(COFFER_(?!TEST_)|OTEL_|INIT_CWD$)/.test(name));
  const env = { ...Object.fromEntries(inherited), COFFER_DATA_DIR: directory };
  return new Promise((resolve) => {
    execFile("npm", ["run", "--silent", name, "--", ...args], { cwd: checkout, env }, (error, stdout, stderr) => {
      resolve({ code: error === null ? 0 : Number(error.code), stdout, stderr });
    });
  });
}
