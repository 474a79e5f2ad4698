import { spawn } from "node:child_process";
import { resolve } from "node:path";
import { inspect } from "node:util";
import { checkout } from "../checkout.ts";
import { type TapCount, tapCounter } from "./count-tap.ts";

export interface TapRun {
  /** Test files, or none for all of .taprc. */
  files: readonly string[];
  environment: NodeJS.ProcessEnv;
  out: (text: string) => unknown;
  /** Ends the run early. */
  signal: AbortSignal;
}

/** Runs tap; prints a line per file and its failures. Returns the counts. */
export function runTap({ files, environment, out, signal }: TapRun): Promise<TapCount> {
  const tap = resolve(checkout, "node_modules/tap/dist/esm/run.mjs");
  const { parser, count } = tapCounter({
    file: (name, { passed, failed }, milliseconds) => {
      const seconds = milliseconds === null ? "" : `, ${(milliseconds / 1000).toFixed(1)} s`;
      out(`${failed === 0 ? "ok" : "FAILED"}  ${name} (${passed} passed, ${failed} failed${seconds})\n`);
    },
    failure: (path, diagnostics) => {
      out(`not ok  ${path.join(" › ")}\n${indented(inspect(diagnostics, { depth: 6 }))}\n`);
    },
    extra: (line) => out(`        ${line.trimEnd()}\n`),
  });
  return new Promise((done) => {
    const child = spawn(process.execPath, [tap, "run", "--reporter=tap", ...files], {
      cwd: checkout,
      stdio: ["ignore", "pipe", "inherit"],
      env: environment,
    });
    const stop = (): boolean => child.kill("SIGTERM");
    signal.addEventListener("abort", stop, { once: true });
    child.stdout.on("data", (chunk: Buffer) => parser.write(chunk));
    const finish = (code: number): void => {
      signal.removeEventListener("abort", stop);
      parser.end();
      if (code !== 0 && count.failed === 0) {
        out(`the test runner ended with code ${code}\n`);
        count.failed += 1;
      }
      done(count);
    };
    child.once("error", () => finish(127));
    child.once("close", (code) => finish(code ?? 1));
  });
}

function indented(text: string): string {
  return text.replace(/^/gm, "        ");
}
