import { spawn } from "node:child_process";
import { resolve } from "node:path";
import { checkout } from "../checkout.ts";

interface Check {
  name: string;
  /** A program of node_modules/.bin with its arguments. */
  command: [string, ...string[]];
}

/** The fast part: format, lint, boundaries, types, the descriptions of the interface. */
export const checks: readonly Check[] = [
  { name: "lint", command: ["oxlint"] },
  { name: "format", command: ["prettier", "--check", "--log-level=warn", "."] },
  { name: "boundaries", command: ["depcruise", "--output-type=err", "packages", "services", "deploy"] },
  { name: "types", command: ["tsc", "-p", "tsconfig.json"] },
  { name: "types of the console", command: ["tsc", "-p", "packages/console"] },
  { name: "types of its tests", command: ["tsc", "-p", "deploy/console"] },
  { name: "descriptions", command: ["node", "packages/openapi/src/lint.ts"] },
];

/** Runs every check, two at a time, and reports each result. Returns the number of failed ones. */
export async function checkAll({ out }: { out: (text: string) => unknown }): Promise<number> {
  const waiting = [...checks];
  let failed = 0;
  const worker = async (): Promise<void> => {
    for (let check = waiting.shift(); check !== undefined; check = waiting.shift()) {
      const { code, text, seconds } = await runCheck(check);
      out(`${code === 0 ? "ok" : "FAILED"}  ${check.name} (${seconds.toFixed(1)} s)\n`);
      if (code === 0) continue;
      failed += 1;
      out(`${text.trimEnd()}\n`);
    }
  };
  await Promise.all([worker(), worker()]);
  return failed;
}

function runCheck({ command: [program, ...args] }: Check): Promise<{ code: number; text: string; seconds: number }> {
  const began = performance.now();
  return new Promise((done) => {
    const child = spawn(resolve(checkout, "node_modules/.bin", program), args, {
      cwd: checkout,
      stdio: ["ignore", "pipe", "pipe"],
    });
    let text = "";
    const take = (chunk: Buffer): void => {
      text += chunk.toString();
    };
    child.stdout.on("data", take);
    child.stderr.on("data", take);
    const finish = (code: number): void => done({ code, text, seconds: (performance.now() - began) / 1000 });
    child.once("error", (error) => {
      text += error.message;
      finish(127);
    });
    child.once("close", (code) => finish(code ?? 1));
  });
}
