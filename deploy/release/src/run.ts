import { spawnSync } from "node:child_process";

/**
 * Runs a program and returns its output. The variables of an outer npm would be read by the inner one.
 * @throws Error with the output of a program that fails
 */
export function run(program: string, args: readonly string[], cwd: string): string {
  const kept = Object.entries(process.env).filter(
    ([name]) => !/^(npm_|NODE_OPTIONS$)/i.test(name) || /cache$/.test(name),
  );
  const { status, signal, stdout, stderr, error } = spawnSync(program, args, {
    cwd,
    encoding: "utf8",
    maxBuffer: 1 << 26,
    stdio: ["ignore", "pipe", "pipe"],
    env: Object.fromEntries(kept),
  });
  if (error !== undefined) throw error;
  if (status !== 0)
    throw new Error(`${[program, ...args].join(" ")}: ended with ${status ?? signal}\n${stdout}${stderr}`);
  return stdout;
}
