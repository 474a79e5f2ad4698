import { spawn } from "node:child_process";
import { closeSync, mkdtempSync, openSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { tapCounter } from "@coffer/local/count-tap";
import { tiedToThisProcess } from "@coffer/stores";

/** The result of a test file. */
export type Outcome =
  | { kind: "passed" }
  /** The failed assertion. */
  | { kind: "failed"; assertion: string }
  /** Why it did not run to an assertion. */
  | { kind: "broken"; reason: string };

export interface TestRun {
  /** The checkout. */
  directory: string;
  file: string;
  environment: NodeJS.ProcessEnv;
  /** The timeout. */
  milliseconds: number;
  signal: AbortSignal;
}

/** Runs a test file until its first failure. */
export function runTestFile({ directory, file, environment, milliseconds, signal }: TestRun): Promise<Outcome> {
  const failures: string[] = [];
  const crashes: string[] = [];
  const { parser } = tapCounter({
    failure: (path, diagnostics) => {
      const name = path.join(" › ");
      (path.length === 1 && isUncaught(diagnostics) ? crashes : failures).push(name);
    },
  });
  const [program = "", ...args] = tiedToThisProcess([process.execPath, file], "SIGKILL");
  // A test that bails out ends at once, and its output to a full pipe would be lost.
  const folder = mkdtempSync(join(tmpdir(), "coffer-mutant-"));
  const output = openSync(join(folder, "tap"), "w+");
  return new Promise((done) => {
    const child = spawn(program, args, {
      cwd: directory,
      stdio: ["ignore", output, "pipe"],
      env: { ...environment, TAP_BAIL: "1", TAP_TIMEOUT: String(Math.ceil(milliseconds / 1000)) },
    });
    let complaint = "";
    child.stderr?.on("data", (chunk: Buffer) => {
      complaint = (complaint + chunk.toString()).slice(-4_000);
    });
    const end = (): boolean => child.kill("SIGKILL");
    const late = setTimeout(end, 1.5 * milliseconds);
    signal.addEventListener("abort", end, { once: true });
    const finish = (code: number | null): void => {
      clearTimeout(late);
      signal.removeEventListener("abort", end);
      parser.end(readFileSync(join(folder, "tap")));
      closeSync(output);
      rmSync(folder, { recursive: true });
      const [assertion] = failures;
      if (assertion !== undefined) done({ kind: "failed", assertion });
      else if (code === 0) done({ kind: "passed" });
      else done({ kind: "broken", reason: crashes[0] ?? reasonIn(complaint) });
    };
    child.once("error", (error) => {
      complaint = error.message;
    });
    child.once("close", finish);
  });
}

/** Thrown outside of every test: by loading a module, or by a preparation. */
function isUncaught(diagnostics: unknown): boolean {
  if (typeof diagnostics !== "object" || diagnostics === null || !("tapCaught" in diagnostics)) return false;
  return diagnostics.tapCaught === "uncaughtException" || diagnostics.tapCaught === "unhandledRejection";
}

function reasonIn(complaint: string): string {
  const lines = complaint.split("\n").map((line) => line.trim());
  return lines.find((line) => /^\w*Error\b/.test(line)) ?? lines.findLast((line) => line !== "") ?? "it did not end";
}
